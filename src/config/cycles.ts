/** Loops among dependencies. Without recursion: a chain of a thousand components is no reason to run out of stack. */

/** Name → the names it depends on, with their order. Names without an entry are ignored. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Every loop once, as a walk that ends where it began: `a`, `b`, `a`. Loops that share components count as one. */
export function findLoops(dependencies: Dependencies): readonly (readonly string[])[] {
  const loops: string[][] = [];
  const left = new Map<string, readonly string[]>();
  for (const [name, needs] of dependencies) {
    if (needs.includes(name)) loops.push([name, name]);
    left.set(
      name,
      needs.filter((need) => need !== name),
    );
  }
  for (;;) {
    withoutDeadEnds(left);
    const [start] = left.keys();
    if (start === undefined) return loops;
    const loop = follow(left, start);
    loops.push(loop);
    for (const name of loop) left.delete(name);
  }
}

/** Takes away everything that depends on nothing that is left, again and again; what stays lies on a loop or leads into one. */
function withoutDeadEnds(left: Map<string, readonly string[]>): void {
  const dependents = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, needs] of left) {
    const present = needs.filter((need) => left.has(need));
    open.set(name, present.length);
    for (const need of present) {
      const known = dependents.get(need);
      if (known) known.push(name);
      else dependents.set(need, [name]);
    }
  }
  const ended = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  for (let name = ended.pop(); name !== undefined; name = ended.pop()) {
    left.delete(name);
    for (const dependent of dependents.get(name) ?? []) {
      const count = open.get(dependent)! - 1;
      open.set(dependent, count);
      if (count === 0) ended.push(dependent);
    }
  }
}

/** Everything left depends on something left, so walking on must come back to where it has been. */
function follow(left: Dependencies, start: string): string[] {
  const walked: string[] = [];
  const seen = new Set<string>();
  let at = start;
  while (!seen.has(at)) {
    seen.add(at);
    walked.push(at);
    at = left.get(at)!.find((need) => left.has(need))!;
  }
  return [...walked.slice(walked.indexOf(at)), at];
}
