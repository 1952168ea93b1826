/** The dependency graph in its forms. Loaded by `keepwell graph` only. */

import { dependentsOf, type Graph, levels, withDependencies } from '../../supervision/rules/graph.ts';
import type { StateKind } from '../../supervision/rules/lifecycle/state.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';
import type { ComponentSpec } from '../../supervision/spec.ts';
import { type Brush, type Paint, stateBrush } from '../print/colour.ts';
import { sanitise } from '../print/sanitise.ts';
import { type Cell, table } from '../print/table.ts';

/** For those who cannot see colours, or have none. */
const MARKS: Readonly<Record<StateKind, string>> = {
  running: '●',
  completed: '✓',
  'gave-up': '✗',
  stopped: '○',
  waiting: '◌',
  starting: '◌',
  'backing-off': '◌',
  stopping: '◌',
};

/** One row per component; the column of states is there when anything is known. */
export function graphTable(nodes: readonly GraphNode[], paint: Paint, columns?: number): string[] {
  const hasStates = nodes.some(({ status }) => status !== null);
  const header = ['STEP', 'NAME', ...(hasStates ? ['STATE'] : []), 'NEEDS'];
  const rows = nodes.map(({ step, name, needs, status }): Cell[] => [
    { text: String(step) },
    { text: sanitise(name), brush: paint.bold },
    ...(hasStates ? [stateCell(status, paint)] : []),
    { text: needs.map(([other, condition]) => `${sanitise(other)} (${condition})`).join(', ') },
  ]);
  return table(header, rows, columns);
}

function stateCell(status: GraphNode['status'], paint: Paint): Cell {
  if (status === null) return { text: '' };
  const { state, health, ready } = status;
  const remark = state !== 'running' || ready ? '' : health === 'unhealthy' ? ', unhealthy' : ', not ready';
  return { text: `${MARKS[state]} ${state}${remark}`, brush: brushOf(status, paint) };
}

const brushOf = ({ state, ready }: NonNullable<GraphNode['status']>, paint: Paint): Brush =>
  state === 'running' && !ready ? paint.yellow : stateBrush(paint, state);

/** For `-o json`. */
export const graphView = (project: string, nodes: readonly GraphNode[]): object => ({
  schema_version: 1,
  project,
  components: nodes.map(({ name, kind, step, needs, neededBy, status }) => ({
    name,
    kind,
    step,
    depends_on: Object.fromEntries(needs),
    needed_by: neededBy,
    state: status?.state ?? null,
    health: status?.health ?? null,
    ready: status?.ready ?? null,
  })),
});

/** Arrows point to what is needed, as in other drawings of dependencies. Numbers are the ids: `end` is a word of Mermaid's. */
export function mermaid(nodes: readonly GraphNode[]): string[] {
  const ids = new Map(nodes.map(({ name }, index) => [name, `c${index + 1}`]));
  const boxes = nodes.map(({ name, kind }) => {
    const text = `"${mermaidText(name)}"`;
    return `  ${ids.get(name)}${kind === 'external' ? `([${text}])` : `[${text}]`}`;
  });
  const arrows = nodes.flatMap(({ name, needs }) =>
    needs.map(([other, condition]) => `  ${ids.get(name)} -->|${mermaidText(condition)}| ${ids.get(other)}`),
  );
  return ['flowchart LR', ...boxes, ...arrows];
}

/** Every character that means something to Mermaid or to HTML, as its number. */
const mermaidText = (text: string): string =>
  sanitise(text).replace(/[^\w .,()/+-]/gu, (character) => `#${character.codePointAt(0)};`);

export function dot(project: string, nodes: readonly GraphNode[]): string[] {
  const boxes = nodes.map(
    ({ name, kind }) => `  ${dotText(name)}${kind === 'external' ? ' [style="rounded,dashed"]' : ''};`,
  );
  const arrows = nodes.flatMap(({ name, needs }) =>
    needs.map(([other, condition]) => `  ${dotText(name)} -> ${dotText(other)} [label=${dotText(condition)}];`),
  );
  const style = ['  rankdir=LR;', '  node [shape=box, style=rounded];'];
  return [`digraph ${dotText(project)} {`, ...style, ...boxes, ...arrows, '}'];
}

const dotText = (text: string): string => `"${sanitise(text).replace(/["\\]/g, '\\$&')}"`;

// The dependency graph as rows, one per component, in start order.

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
