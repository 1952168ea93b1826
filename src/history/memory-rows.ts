/**
 * Rows in memory that behave as those of the database do: all that the memory store has, the rows that wait for the disk laid over
 * those that are on it, and those that a new database is told.
 */
import type { Row, SqlValue } from '../base/sqlite.ts';
import { atMost, num } from './cells.ts';
import {
  conditionsOf,
  idOf,
  isOpen,
  type RowQuery,
  type Rows,
  type RowWrite,
  rowWrite,
  type Selection,
  type Table,
} from './table.ts';

export interface MemoryRowsOptions {
  /** Where the rows are that are not in memory. */
  readonly below?: Rows | null;
  /** How many rows of a table are kept that are not open; with `per`, of each. Absent: all. */
  readonly bound?: (table: RowQuery) => number;
}

/** The highest numbers that SQLite has given to rows. */
const NUMBERS: RowQuery = { table: 'sqlite_sequence', since: 1, key: ['name'], order: ['name'] };
/** New rows come after all that are on disk. */
const FIRST_ROWID = 2 ** 50;

export class MemoryRows implements Rows {
  readonly #below: Rows | null;
  readonly #bound: (table: RowQuery) => number;
  readonly #tables = new Map<string, RowSet>();

  constructor({ below = null, bound = () => Infinity }: MemoryRowsOptions = {}) {
    this.#below = below;
    this.#bound = bound;
  }

  /** As the statement of the table does it: inserts the row, or changes the one that is there. */
  put({ into, id, row, isGone }: RowWrite): void {
    const rows = this.#rowsOf(into);
    const before = isGone ? undefined : (rows.get(id) ?? this.#onDisk(into, row));
    const stays = before !== undefined && (into.replaced.length === 0 || into.onlyIf?.holds(before, row) === false);
    if (isGone) rows.delete(id);
    if (isGone || stays) return;
    const after = before ? { ...before, ...only(into.replaced, row) } : { ...row, ...this.#numbersFor(into, rows) };
    rows.set(id, after, bucketOf(into, after), this.#bound(into));
  }

  has({ into, id }: RowWrite): boolean {
    return this.#tables.get(into.table)?.has(id) ?? false;
  }

  select(from: RowQuery, which: Selection): readonly Row[] {
    const rows = this.#tables.get(from.table);
    if (rows === undefined || rows.size === 0) return this.#below?.select(from, which) ?? [];
    const limit = atMost(which.limit ?? Infinity);
    const conditions = conditionsOf(which.where);
    const own = rows
      .list(conditions.find(([column]) => column === from.per)?.[1].value)
      .filter((row) => !which.isOpen || isOpen(from, row))
      .filter((row) => conditions.every(([column, must]) => must.holds(row[column])));
    const rest = this.#below === null ? [] : restOf(this.#below, from, which, rows);
    const sign = which.newestFirst ? -1 : 1;
    return [...rest, ...own].sort((a, b) => sign * compare(from.order, a, b)).slice(0, limit);
  }

  /** All rows of a table, to be written again. */
  writesOf(table: Table): readonly RowWrite[] {
    return (this.#tables.get(table.table)?.list() ?? []).map((row) => rowWrite(table, only(table.columns, row)));
  }

  #rowsOf({ table }: Table): RowSet {
    const rows = this.#tables.get(table) ?? new RowSet();
    this.#tables.set(table, rows);
    return rows;
  }

  /** Asked for only where the row that is written does not say all. */
  #onDisk(into: Table, row: Row): Row | undefined {
    const { isPartial, onlyIf, id } = into;
    if (!isPartial && !onlyIf && !id) return undefined;
    const found = this.#below?.select(into, { where: only(into.key, row), limit: 1 })[0];
    return found && Object.fromEntries(Object.entries(found).map(([column, cell]) => [column, asWritten(cell)]));
  }

  #numbersFor({ table, id, order }: Table, rows: RowSet): Row {
    const below = () => num(this.#below?.select(NUMBERS, { where: { name: table } })[0]?.['seq']);
    const number = id === undefined ? {} : { [id]: rows.nextNumber(below) };
    return order.includes('rowid') ? { ...number, rowid: rows.nextNumber(() => FIRST_ROWID) } : number;
  }
}

/** One that is in memory is not as it is on disk any more, whether it fits or not. So some more may have to be asked for. */
function restOf(rows: Rows, from: RowQuery, which: Selection, hidden: RowSet): readonly Row[] {
  const limit = atMost(which.limit ?? Infinity);
  const found = rows.select(from, which);
  const isEnough = found.length < limit || !found.some((row) => hidden.has(idOf(from, row)));
  const all = isEnough ? found : rows.select(from, { ...which, limit: limit + hidden.size });
  return all.filter((row) => !hidden.has(idOf(from, row)));
}

const only = (columns: readonly string[], row: Row): Row =>
  Object.fromEntries(columns.map((column) => [column, row[column] ?? null]));

/** Integers are read as bigints. */
const asWritten = (cell: SqlValue): SqlValue => (typeof cell === 'bigint' ? Number(cell) : cell);

function compare(order: readonly string[], a: Row, b: Row): number {
  for (const column of order) {
    const [one, other] = [a[column] ?? 0, b[column] ?? 0];
    if (one < other) return -1;
    if (one > other) return 1;
  }
  return 0;
}

const OPEN = Symbol('open');
type Bucket = SqlValue | typeof OPEN;

/** Rows that are open are in a bucket of their own, which has no bound. */
const bucketOf = (table: RowQuery, row: Row): Bucket =>
  isOpen(table, row) ? OPEN : table.per === undefined ? null : (row[table.per] ?? null);

/** The rows of one table by id, in buckets; in each, the one that was written last is the last. */
class RowSet {
  readonly #buckets = new Map<Bucket, Map<string, Row>>();
  readonly #bucketOf = new Map<string, Map<string, Row>>();
  #lastNumber: number | null = null;

  get size(): number {
    return this.#bucketOf.size;
  }

  nextNumber(first: () => number): number {
    this.#lastNumber = (this.#lastNumber ?? first()) + 1;
    return this.#lastNumber;
  }

  has(id: string): boolean {
    return this.#bucketOf.has(id);
  }

  get(id: string): Row | undefined {
    return this.#bucketOf.get(id)?.get(id);
  }

  set(id: string, row: Row, name: Bucket, max: number): void {
    this.delete(id);
    const bucket = this.#buckets.get(name) ?? new Map<string, Row>();
    this.#buckets.set(name, bucket);
    this.#bucketOf.set(id, bucket);
    bucket.set(id, row);
    if (name !== OPEN && bucket.size > max) this.delete(bucket.keys().next().value!);
  }

  delete(id: string): void {
    this.#bucketOf.get(id)?.delete(id);
    this.#bucketOf.delete(id);
  }

  /** Those of one bucket, or all. */
  list(name?: Bucket): Row[] {
    const buckets = name === undefined ? [...this.#buckets.values()] : [this.#buckets.get(name) ?? []];
    return buckets.flatMap((bucket) => [...bucket.values()]);
  }
}
