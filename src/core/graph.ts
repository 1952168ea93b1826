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
  return [...graph].filter(([, dependencies]) => dependencies.includes(name)).map(([other]) => other);
}
