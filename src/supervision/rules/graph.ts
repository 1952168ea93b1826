/** Dependencies between components: start order, reverse stop order, closures. Loops are refused by the configuration. */

/** Name → the names it depends on. A map, because `constructor` is a good name for a component. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** Every name after all it depends on; otherwise in the order given. The graph must have no cycle. */
export function startOrder(graph: Graph): readonly string[] {
  return [...withDependencies(graph, [...graph.keys()])];
}

/** The names and all they depend on, in start order. Names that the graph does not know are left out. */
export function withDependencies(graph: Graph, names: readonly string[]): ReadonlySet<string> {
  const ordered = new Set<string>();
  const add = (name: string): void => {
    const dependencies = graph.get(name);
    if (dependencies === undefined || ordered.has(name)) return;
    for (const dependency of dependencies) add(dependency);
    ordered.add(name);
  };
  for (const name of names) add(name);
  return ordered;
}

/** Who depends directly on `name`. */
export function dependentsOf(graph: Graph, name: string): readonly string[] {
  const known = DEPENDENTS.get(graph) ?? reversed(graph);
  DEPENDENTS.set(graph, known);
  return known.get(name) ?? [];
}

/** Asked for at every change of every component, and graphs never change. */
const DEPENDENTS = new WeakMap<Graph, Graph>();

function reversed(graph: Graph): Graph {
  const dependents = new Map<string, string[]>();
  for (const [name, dependencies] of graph) {
    for (const dependency of new Set(dependencies)) {
      const others = dependents.get(dependency);
      if (others) others.push(name);
      else dependents.set(dependency, [name]);
    }
  }
  return dependents;
}

// Start order in steps: what one step holds can start at the same time, once the steps before it are there.

/** Name → its step, from 1, in start order. The graph must have no cycle. */
export function levels(graph: Graph): ReadonlyMap<string, number> {
  const steps = new Map<string, number>();
  for (const name of startOrder(graph)) {
    const before = (graph.get(name) ?? []).map((other) => steps.get(other) ?? 0);
    steps.set(name, 1 + Math.max(0, ...before));
  }
  return new Map([...steps].sort(([, a], [, b]) => a - b));
}
