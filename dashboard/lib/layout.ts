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
/** The room of a line that passes by a column. */
const LANE = 6;
const SWEEPS = 4;
const MARGIN = 8;

type Links = Readonly<Record<string, readonly string[]>>;

/** A place in a column that a line goes through on its way; those that come from one node share it. No name has a line break in it. */
const bendOf = (from: string, column: number): string => `\n${column}\n${from}`;
const isBend = (name: string): boolean => name.startsWith('\n');

export function drawingOf(
  components: readonly { readonly name: string; readonly needs: readonly string[] }[],
): Drawing {
  const known = new Set(components.map(({ name }) => name));
  const needs: Links = Object.fromEntries(
    components.map(({ name, needs: all }) => [name, all.filter((each) => known.has(each))]),
  );
  const columnOf = levels(new Map(Object.entries(needs)));
  const columns: string[][] = [];
  const links: Record<string, string[]> = {};
  const put = (name: string, column: number, before: readonly string[]): void => {
    while (columns.length < column) columns.push([]);
    columns[column - 1]!.push(name);
    links[name] = [...before];
  };
  for (const [name, column] of columnOf) put(name, column, []);
  const routes = Object.entries(needs).flatMap(([to, all]) =>
    all.map((from) => {
      const way = [from];
      for (let column = columnOf.get(from)! + 1; column < columnOf.get(to)!; column += 1) {
        const bend = bendOf(from, column);
        if (links[bend] === undefined) put(bend, column, [way.at(-1)!]);
        way.push(bend);
      }
      links[to]!.push(way.at(-1)!);
      return [...way, to];
    }),
  );
  const dependents = reversed(links);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (let at = 1; at < columns.length; at += 1) columns[at] = sorted(columns, at, links);
    for (let at = columns.length - 2; at >= 0; at -= 1) columns[at] = sorted(columns, at, dependents);
  }
  return placed(columns, routes);
}

function reversed(links: Links): Links {
  const result: Record<string, string[]> = Object.fromEntries(Object.keys(links).map((name) => [name, []]));
  for (const [name, all] of Object.entries(links)) for (const each of all) result[each]!.push(name);
  return result;
}

/** By the middle of their neighbours, wherever these are; who has none stays where it is. */
function sorted(columns: readonly string[][], at: number, neighbours: Links): string[] {
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

const heightOf = (name: string): number => (isBend(name) ? LANE : NODE.height);

function placed(columns: readonly string[][], routes: readonly (readonly string[])[]): Drawing {
  const tall = (column: readonly string[]): number =>
    column.reduce((sum, name) => sum + heightOf(name) + NODE.gapY, -NODE.gapY);
  const tallest = Math.max(0, ...columns.map(tall));
  const all = columns.flatMap((column, at) => {
    let y = MARGIN + (tallest - tall(column)) / 2;
    return column.map((name) => {
      const node = { name, x: MARGIN + at * (NODE.width + NODE.gapX), y };
      y += heightOf(name) + NODE.gapY;
      return node;
    });
  });
  const byName = new Map(all.map((node) => [node.name, node]));
  const width = columns.length * (NODE.width + NODE.gapX) - NODE.gapX + 2 * MARGIN;
  return {
    nodes: all.filter(({ name }) => !isBend(name)),
    edges: routes.map((way) => edge(way.map((name) => byName.get(name)!))),
    width: Math.max(width, 0),
    height: tallest + 2 * MARGIN,
  };
}

/** From the right side of the first to the left side of the last; straight through the columns in between. */
function edge(way: readonly Node[]): Edge {
  const middle = ({ name, y }: Node): number => y + heightOf(name) / 2;
  let path = `M${way[0]!.x + NODE.width} ${middle(way[0]!)}`;
  for (const [at, to] of way.slice(1).entries()) {
    const from = way[at]!;
    const [x1, y1, x2, y2] = [from.x + NODE.width, middle(from), to.x, middle(to)];
    const bend = Math.max(24, (x2 - x1) / 2);
    path += `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}${isBend(to.name) ? `H${x2 + NODE.width}` : ''}`;
  }
  return { from: way[0]!.name, to: way.at(-1)!.name, path };
}
