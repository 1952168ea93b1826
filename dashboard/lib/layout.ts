/** Dependencies from left to right: the steps of starting are the columns, and few lines cross. */
import { levels } from '../../src/supervision/rules/graph.ts';

export interface Node {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

export interface Drawing {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly width: number;
  readonly height: number;
}

export const NODE = { width: 168, height: 34, gapX: 72, gapY: 14 } as const;
const ROUNDS = 4;
const MARGIN = 8;

type Needs = Readonly<Record<string, readonly string[]>>;

export function drawingOf(
  components: readonly { readonly name: string; readonly needs: readonly string[] }[],
): Drawing {
  const known = new Set(components.map(({ name }) => name));
  const needs: Needs = Object.fromEntries(
    components.map(({ name, needs: all }) => [name, all.filter((each) => known.has(each))]),
  );
  const columns = columnsOf(
    components.map(({ name }) => name),
    needs,
  );
  const dependents = reversed(needs);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let at = 1; at < columns.length; at += 1) columns[at] = sorted(columns, at, needs);
    for (let at = columns.length - 2; at >= 0; at -= 1) columns[at] = sorted(columns, at, dependents);
  }
  return placed(columns, needs);
}

function columnsOf(names: readonly string[], needs: Needs): string[][] {
  const columns: string[][] = [];
  for (const [name, level] of levels(new Map(names.map((name) => [name, needs[name]!])))) {
    while (columns.length < level) columns.push([]);
    columns[level - 1]!.push(name);
  }
  return columns;
}

function reversed(needs: Needs): Needs {
  const result: Record<string, string[]> = Object.fromEntries(Object.keys(needs).map((name) => [name, []]));
  for (const [name, all] of Object.entries(needs)) for (const each of all) result[each]!.push(name);
  return result;
}

/** By the middle of their neighbours, wherever these are; who has none stays where it is. */
function sorted(columns: readonly string[][], at: number, neighbours: Needs): string[] {
  const place = new Map(
    columns.flatMap((column) => column.map((name, row) => [name, row / Math.max(1, column.length)] as const)),
  );
  const middle = (name: string): number => {
    const rows = neighbours[name]!.map((each) => place.get(each)!);
    return rows.length === 0 ? place.get(name)! : rows.reduce((sum, row) => sum + row, 0) / rows.length;
  };
  return columns[at]!.map((name) => ({ name, row: middle(name) }))
    .sort((one, other) => one.row - other.row)
    .map(({ name }) => name);
}

function placed(columns: readonly string[][], needs: Needs): Drawing {
  const tallest = Math.max(0, ...columns.map((column) => column.length));
  const row = NODE.height + NODE.gapY;
  const nodes = columns.flatMap((column, at) =>
    column.map((name, index) => ({
      name,
      x: MARGIN + at * (NODE.width + NODE.gapX),
      y: MARGIN + (index + (tallest - column.length) / 2) * row,
    })),
  );
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const edges = Object.entries(needs).flatMap(([to, all]) =>
    all.map((from) => edge(byName.get(from)!, byName.get(to)!)),
  );
  const width = columns.length * (NODE.width + NODE.gapX) - NODE.gapX + 2 * MARGIN;
  return { nodes, edges, width: Math.max(width, 0), height: tallest * row - NODE.gapY + 2 * MARGIN };
}

function edge(from: Node, to: Node): Edge {
  const [x1, y1, x2, y2] = [from.x + NODE.width, from.y + NODE.height / 2, to.x, to.y + NODE.height / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  return { from: from.name, to: to.name, path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` };
}
