/**
 * Commits that are not on disk yet, in order. Bounded by leaving out what a newer row replaces, and by dropping what can be missed:
 * first the oldest samples, then the oldest probe stretches and check results, then the oldest events, then the log tails of the
 * oldest crashes. Records, ends of runs and crashes themselves are never dropped.
 */
import { CRASHES, withoutEvidence } from '../crashes.ts';
import type { Entry } from '../entry.ts';
import { EVENTS } from '../events.ts';
import { MemoryRows } from '../memory-rows.ts';
import { CHECK_RESULTS, PROBES, SAMPLES } from '../stretches.ts';
import { isReplacedWhole, type Rows, type RowWrite, type Table } from '../table.ts';

/** What is said about rows that were dropped, and the event that tells it later. */
export interface Dropped {
  readonly words: string;
  readonly event: string;
  readonly data: Readonly<Record<string, number>>;
}

/** The first to go first. A stretch that goes on comes again, so how many were dropped would say nothing. */
const DROPPABLE: readonly { readonly table: Table; said?(count: number): Dropped }[] = [
  { table: SAMPLES, said: () => ({ words: 'samples dropped', event: 'store.samples-dropped', data: {} }) },
  { table: PROBES, said: () => ({ words: 'probe answers dropped', event: 'store.probes-dropped', data: {} }) },
  { table: CHECK_RESULTS },
  {
    table: EVENTS,
    said: (events) => ({
      words: `${events} event${events === 1 ? '' : 's'} dropped`,
      event: 'store.events-dropped',
      data: { events },
    }),
  },
];

/** Of all that may be dropped together. */
const MAX_ITEMS = 10_000;
/** Dropping one per commit would walk the list each time, so a tenth of them goes at once. */
const ITEMS_AFTER_DROP = MAX_ITEMS * 0.9;
const MAX_LOG_TAILS = 500;
/** So many replaced rows stay where they are, together with what else happened then. */
const MAX_TOGETHER = 500;

interface Waiting {
  readonly entry: Entry;
  readonly write: RowWrite;
}

export class Unwritten {
  #entries: Entry[] = [];
  /** Where the newest row of each key is. */
  readonly #newest = new Map<string, Waiting>();
  #replaced: Waiting[] = [];
  #withTail = new Set<RowWrite>();
  readonly #counts = new Map<Table, number>();
  readonly #dropped = new Map<Table, number>();
  /** An entry may have lost its last row. */
  #hasLost = false;
  #overlay: { readonly below: Rows | null; readonly rows: MemoryRows; entries: number } | null = null;

  get size(): number {
    return this.#entries.length;
  }

  dropped(): readonly Dropped[] {
    return DROPPABLE.flatMap(({ table, said }) => {
      const count = this.#dropped.get(table) ?? 0;
      return count > 0 && said ? [said(count)] : [];
    }).reverse();
  }

  /** The rows with those laid over them that wait, so that nobody reads a past without its newest part. Null: there are no others. */
  laidOver(below: Rows | null): Rows {
    if (below !== null && this.size === 0) return below;
    let overlay = this.#overlay;
    if (overlay === null || overlay.below !== below) overlay = { below, rows: new MemoryRows({ below }), entries: 0 };
    this.#overlay = null; // unless all goes well: reading what is below may fail
    for (; overlay.entries < this.size; overlay.entries += 1)
      for (const write of this.#entries[overlay.entries]!.writes) overlay.rows.put(write);
    this.#overlay = overlay;
    return overlay.rows;
  }

  /** All rows that wait, oldest first. */
  *writes(): Iterable<RowWrite> {
    for (const { writes } of this.#entries) yield* writes;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    for (const write of entry.writes) {
      this.#count(write, 1);
      if (isReplacedWhole(write.into)) this.#replace({ entry, write });
      if (write.into === CRASHES) this.#withTail.add(write);
    }
    for (const write of this.#withTail) {
      if (this.#withTail.size <= MAX_LOG_TAILS) break;
      write.row = withoutEvidence(write.row);
      this.#withTail.delete(write);
      this.#overlay = null;
    }
  }

  #replace(newer: Waiting): void {
    const { into, id, row } = newer.write;
    const older = this.#newest.get(id);
    const isNews = !older || into.onlyIf?.holds(older.write.row, row) !== false;
    if (isNews) this.#newest.set(id, newer);
    if (!isNews) this.#leaveOut(newer);
    else if (older && into.isTogether) this.#replaced.push(older);
    else if (older) this.#leaveOut(older);
    if (this.#replaced.length > MAX_TOGETHER) this.#leaveOut(this.#replaced.shift()!);
  }

  #leaveOut({ entry, write }: Waiting): void {
    if (!entry.writes.delete(write)) return;
    this.#count(write, -1);
    this.#hasLost = true;
  }

  /** Puts history that is older than all that waits before it. */
  prepend(older: readonly Entry[]): void {
    // As new ones: as arguments of a call, a hundred thousand entries are too many.
    this.#entries = [...older, ...this.#entries];
    const writes = older.flatMap((entry) => [...entry.writes]);
    for (const write of writes) this.#count(write, 1);
    this.#withTail = new Set([...writes.filter(({ into }) => into === CRASHES), ...this.#withTail]);
    this.#overlay = null;
  }

  /** The oldest entries, up to `count`. */
  peek(count: number): readonly Entry[] {
    return this.#entries.slice(0, count);
  }

  /** Takes the oldest entries away, because they are written or can never be. */
  remove(count: number): readonly Entry[] {
    const removed = this.#entries.splice(0, count);
    for (const { writes } of removed)
      for (const write of writes) {
        this.#count(write, -1);
        this.#withTail.delete(write);
        if (this.#newest.get(write.id)?.write === write) this.#newest.delete(write.id);
      }
    this.#overlay = null;
    if (this.size === 0) {
      this.#replaced = [];
      this.#dropped.clear();
    }
    return removed;
  }

  /** For when they have to stay: what is too much is dropped. */
  shrink(): void {
    const items = () => [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    for (const { table } of DROPPABLE) if (items() > MAX_ITEMS) this.#drop(table, items() - ITEMS_AFTER_DROP);
    if (!this.#hasLost) return;
    const overlay = this.#overlay;
    if (overlay) overlay.entries = this.peek(overlay.entries).filter(saysSomething).length;
    this.#entries = this.#entries.filter(saysSomething);
    this.#hasLost = false;
  }

  #drop(table: Table, count: number): void {
    const [before, target] = [this.#countOf(table), this.#countOf(table) - count];
    for (const entry of this.#entries) {
      for (const write of [...entry.writes].filter(({ into }) => into === table)) {
        // What was told in one step is dropped in one step.
        if (this.#countOf(table) <= target && table !== EVENTS) break;
        this.#leaveOut({ entry, write });
        if (this.#newest.get(write.id)?.write === write) this.#newest.delete(write.id);
      }
      if (this.#countOf(table) <= target) break;
    }
    this.#dropped.set(table, (this.#dropped.get(table) ?? 0) + before - this.#countOf(table));
    this.#overlay = null;
  }

  #countOf(table: Table): number {
    return this.#counts.get(table) ?? 0;
  }

  #count({ into }: RowWrite, by: number): void {
    if (DROPPABLE.some(({ table }) => table === into)) this.#counts.set(into, this.#countOf(into) + by);
  }
}

/** An entry may have lost all its rows, and still owe somebody a call. */
export const saysSomething = ({ writes, onDurable }: Entry): boolean => writes.size > 0 || onDurable !== undefined;
