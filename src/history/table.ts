/**
 * A table of the history, described once: how an item becomes a row, what a second row with the same key does to the first, in which
 * order rows come, when one is over, and when it may go. The SQL, the rows in memory, those that wait for the disk, those that a new
 * database is told and the retention all follow from it.
 */
import type { WallMs } from '../base/pure/ids.ts';
import type { Row, SqlValue } from '../base/sqlite.ts';
import { isObject, json, parsed, str, text } from './cells.ts';

/** A column by its name, and what an item has in it. */
export type Columns<Item> = Readonly<
  Record<string, (item: Item, recordedAt: WallMs) => SqlValue | boolean | undefined>
>;

interface Traits {
  /** As it is called in the database. */
  readonly table: string;
  /** The first version of the database that has it. */
  readonly since: number;
  /** The columns that say which row came first. `rowid`: as they came. */
  readonly order: readonly string[];
  /**
   * Values of `state` in which a row is over. What is not over is never dropped from memory, and is written again when the database
   * was lost. Empty: a row never is over. Absent: nobody goes on with such a row.
   */
  readonly over?: readonly string[];
  /** The column that says whose a stretch is: of each, only so many are kept. */
  readonly per?: string;
  /** Which rows may go, by the time `$before`: a condition in SQL. Absent: none. */
  readonly old?: string;
  /** The columns that are read, besides those of key and order. Absent: all. */
  readonly reads?: readonly string[];
  /** SQLite numbers new rows in this column. */
  readonly id?: string;
  /** A write knows only some of the columns, so each of them counts and not only the newest. */
  readonly isPartial?: true;
  /** Written in one step with what else happened: an older row that waits for the disk is left out only when very many do. */
  readonly isTogether?: true;
  /** Where the highest key that was ever used is kept: it outlives the rows. */
  readonly lastNumber?: string;
  /** A row that is there already is changed only if this holds. */
  readonly onlyIf?: { readonly sql: string; holds(before: Row, row: Row): boolean };
}

export interface TableSpec<Item> extends Traits {
  readonly key: Columns<Item>;
  /** Written with the first row of a key, and left alone then. */
  readonly once?: Columns<Item>;
  /** Written over what is there. */
  readonly columns?: Columns<Item>;
}

/** What can be asked for rows. */
export interface RowQuery extends Traits {
  readonly key: readonly string[];
}

export interface Table<Item = unknown> extends RowQuery {
  /** All that are written. */
  readonly columns: readonly string[];
  /** Those that a later row of the same key replaces. None: the first row stays. */
  readonly replaced: readonly string[];
  row(item: Item, recordedAt: WallMs): Row;
}

export function table<Item>({ key, once = {}, columns = {}, ...traits }: TableSpec<Item>): Table<Item> {
  const all = Object.entries({ ...key, ...once, ...columns });
  return {
    ...traits,
    key: Object.keys(key),
    columns: all.map(([column]) => column),
    replaced: Object.keys(columns),
    row: (item, recordedAt) => {
      const row: Record<string, SqlValue> = {};
      for (const [column, of] of all) row[column] = cellOf(of(item, recordedAt));
      return row;
    },
  };
}

export function cellOf(value: SqlValue | boolean | undefined): SqlValue {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value ?? null;
}

export interface Readable<Item> extends RowQuery {
  /** Null: this row cannot be believed. */
  item(row: Row): Item | null;
}

export interface RecordSpec<Item> extends Omit<TableSpec<Item>, 'once' | 'old' | 'reads'> {
  readonly over: readonly string[];
  /** The column that says since when a record is over. */
  readonly overSince: string;
  /** An old record stays while this holds: a condition in SQL. */
  readonly staysWhile?: string;
  /** What a record cannot be without. */
  readonly needs: Readonly<Record<string, (value: unknown) => boolean>>;
  /** From how an older version has written it. */
  readonly upgrade?: (written: never) => Item;
}

/** Of a record, what the daemon needs to go on is all in `record_json`; what people and queries ask for has columns besides. */
export function recordTable<Item>(spec: RecordSpec<Item>): Table<Item> & Readable<Item> {
  const { overSince, staysWhile = 'FALSE', needs, upgrade = (written) => written, ...traits } = spec;
  const isOver = `state IN (${spec.over.map((state) => `'${state}'`).join(', ')})`;
  const isWhole = (value: unknown) =>
    isObject(value) && Object.entries(needs).every(([field, fits]) => fits(value[field]));
  return {
    ...table<Item>({
      ...traits,
      columns: { ...spec.columns, record_json: json },
      old: `${isOver} AND ${overSince} < $before AND NOT (${staysWhile})`,
      reads: ['record_json'],
    }),
    item: (row) => {
      const written = parsed<Item | null>(row['record_json'], null, isWhole);
      return written && upgrade(written as never);
    },
  };
}

export const isOpen = ({ over }: RowQuery, row: Row): boolean =>
  over !== undefined && (over.length === 0 || !over.includes(str(row['state'])));

/** The newest row of a key says all there is to say. */
export const isReplacedWhole = ({ replaced, isPartial }: Table): boolean => replaced.length > 0 && !isPartial;

/** What makes two rows the same one. */
export const idOf = ({ table: name, key }: RowQuery, row: Row): string =>
  key.reduce((id, column) => `${id}\0${row[column]}`, name);

/** One row on its way. */
export interface RowWrite {
  readonly into: Table;
  readonly id: string;
  row: Row;
  /** It is to be deleted; of `row` only the key counts. */
  readonly isGone?: true;
}

export const rowWrite = (into: Table, row: Row): RowWrite => ({ into, row, id: idOf(into, row) });

export const writeOf = <Item>(into: Table<Item>, item: Item, recordedAt: WallMs): RowWrite =>
  rowWrite(into, into.row(item, recordedAt));

/** `key`: as a row. */
export const gone = (into: Table, key: Row): RowWrite => ({ ...rowWrite(into, key), isGone: true });

/** By column. Undefined: whatever it is. */
export type Where = Readonly<Record<string, SqlValue | Comparison | undefined>>;

export interface Selection {
  readonly where?: Where;
  /** Only those that are not over. */
  readonly isOpen?: boolean;
  readonly newestFirst?: boolean;
  /** Absent: all. */
  readonly limit?: number;
  /** Instead of those that the table says. */
  readonly columns?: readonly string[];
}

/** What a cell must be. */
export interface Comparison {
  readonly sql: '=' | '>=' | '>' | 'IS NOT';
  readonly value: SqlValue;
  holds(cell: SqlValue | undefined): boolean;
}

const equalTo = (value: SqlValue): Comparison => ({ sql: '=', value, holds: (cell) => cell === value });
export const atLeast = (value: number): Comparison => ({ sql: '>=', value, holds: (cell) => Number(cell) >= value });
export const above = (value: number): Comparison => ({ sql: '>', value, holds: (cell) => Number(cell) > value });
export const NOT_NULL: Comparison = { sql: 'IS NOT', value: null, holds: (cell) => (cell ?? null) !== null };

export type Conditions = readonly (readonly [column: string, must: Comparison])[];

export function conditionsOf(where: Where = {}): Conditions {
  const conditions: [string, Comparison][] = [];
  for (const [column, must] of Object.entries(where)) {
    const isComparison = typeof must === 'object' && must !== null && 'holds' in must;
    if (must !== undefined) conditions.push([column, isComparison ? must : equalTo(cellOf(must))]);
  }
  return conditions;
}

/** Rows, wherever they are: on disk, in memory, or some in memory and the others on disk. */
export interface Rows {
  select(from: RowQuery, which: Selection): readonly Row[];
}

export const listOf = <Item>(rows: Rows, from: Readable<Item>, which: Selection): readonly Item[] =>
  rows.select(from, which).flatMap((row) => from.item(row) ?? []);

export const newestOf = <Item>(rows: Rows, from: Readable<Item>, where: Where, limit: number): readonly Item[] =>
  listOf(rows, from, { where, limit, newestFirst: true });

/** The newest of those that fit. */
export const oneOf = <Item>(rows: Rows, from: Readable<Item>, where: Where): Item | null =>
  newestOf(rows, from, where, 1)[0] ?? null;
