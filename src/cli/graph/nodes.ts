/** The dependency graph as rows, one per component, in start order. */
import type { ComponentSpec } from '../../supervision/spec.ts';
import { dependentsOf, type Graph, withDependencies } from '../../supervision/rules/graph.ts';
import { levels } from '../../supervision/rules/levels.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';

export interface GraphNode {
  readonly name: string;
  readonly kind: ComponentSpec['driver']['kind'];
  /** From 1: what has the same step can start at the same time. */
  readonly step: number;
  /** Name → `started`, `ready` or `completed`. */
  readonly needs: readonly (readonly [name: string, condition: string])[];
  readonly neededBy: readonly string[];
  /** Null: not asked for, or nothing is known. */
  readonly status: Pick<ComponentView, 'state' | 'health' | 'ready'> | null;
}

/** `names`: these and all they depend on; none means all. */
export function graphNodes(
  specs: readonly ComponentSpec[],
  names: readonly string[],
  views: readonly ComponentView[],
): readonly GraphNode[] {
  const all: Graph = new Map(specs.map(({ name, dependsOn }) => [name, Object.keys(dependsOn)]));
  const chosen = names.length === 0 ? new Set(all.keys()) : withDependencies(all, names);
  const graph: Graph = new Map([...all].filter(([name]) => chosen.has(name)));
  return [...levels(graph)].map(([name, step]) => {
    const spec = specs.find((one) => one.name === name)!;
    return {
      name,
      kind: spec.driver.kind,
      step,
      needs: Object.entries(spec.dependsOn),
      neededBy: dependentsOf(all, name),
      status: views.find((view) => view.name === name) ?? null,
    };
  });
}
