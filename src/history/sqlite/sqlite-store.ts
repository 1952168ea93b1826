/**
 * The store of the daemon. Everything goes through one queue: normally a commit is written at once and leaves it empty; when the
 * disk does not let us, commits stay in it, in order, and are written later. Nothing in here throws into the supervisor.
 */
import type { Runtime } from '../../base/runtime.ts';
import { loadSqlite, type Sqlite } from '../../base/sqlite.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { isList, isObject, parsed } from '../cells.ts';
import { COMPONENTS, META, metaOf } from '../components.ts';
import { type Entry, entryOf, OPEN_TABLES } from '../entry.ts';
import { EVENTS, eventView, lastSeqOf, type NumberedEvent, Sequence } from '../events.ts';
import { openMemoryStore } from '../memory.ts';
import { MemoryRows } from '../memory-rows.ts';
import type { Commit, Store } from '../ports.ts';
import { historyOf } from '../questions.ts';
import { observed, oldBefore, type Progress } from '../rules/progress.ts';
import { gone, type Rows, type RowWrite, rowWrite, writeOf } from '../table.ts';
import { Condition } from './condition.ts';
import { Disk, type NewDatabase } from './disk.ts';
import { Outbox, SeqMark } from './outbox.ts';
import { NewerSchemaError, problemOf } from './problem.ts';

const MAINTENANCE_MS = 60_000;
const PROGRESS = 'retention_clock';
const BOOT = 'boot_id';
/** More events than are told between two syncs. */
const TOLD_UNSYNCED = 1_000;
/** Counted time that may be lost by a death of ours. */
const PROGRESS_MS = 600_000;
/** Between the parts of a maintenance that has more to do than may be done in one turn of the event loop. */
const MAINTENANCE_PAUSE_MS = 1_000;

export interface SqliteStoreOptions extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  readonly path: string;
  /** How long what is over is kept, as it is set now; absent: for ever. */
  readonly retentionMs?: () => number;
  /** The store has something to tell itself (`store.quarantined`): no commit returns these events. */
  readonly onEvent?: (event: EventView) => void;
}

/**
 * Always gives a store to supervise with. A database of a later Keepwell is left alone: the store is then in memory, `health()`
 * says so, and what is in memory counts as written: run directories are cleared away as ever. Throws only SQLITE_MISSING.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const sqlite = await loadSqlite();
  try {
    return new SqliteStore(sqlite, options).store;
  } catch (error) {
    if (!(error instanceof NewerSchemaError)) throw error;
    const { clock, log } = options;
    log.error('the history is of a later version; nothing is recorded', { problem: error.message });
    const health = `not recording: ${error.message}`;
    return openMemoryStore({ clock, health, lastSeq: clock.wallNow() });
  }
}

class SqliteStore {
  readonly store: Store;
  readonly #options: SqliteStoreOptions;
  readonly #condition = new Condition();
  readonly #sequence = new Sequence();
  readonly #mark: SeqMark;
  /** Rows that are open, as far as this process knows: what a new database is told after the old one was lost. */
  readonly #open = new MemoryRows({ bound: () => 0 });
  readonly #disk: Disk;
  readonly #outbox: Outbox;
  readonly #maintenance: NodeJS.Timeout;
  #restOfMaintenance: NodeJS.Timeout | undefined;
  #hasRead = false;
  /** The boot in which numbers are given now is written down. */
  #isBootKnown = true;

  constructor(sqlite: Sqlite, options: SqliteStoreOptions) {
    this.#options = options;
    this.#mark = new SeqMark(options.path);
    const { log } = options;
    const condition = this.#condition;
    const onOpen = (rows: Rows) => this.#learn(rows);
    const disk = new Disk({ ...options, sqlite, condition, onOpen, onAnew: (anew) => this.#tellAgain(anew) });
    this.#disk = disk;
    this.#outbox = new Outbox({
      ...{ disk, condition, log },
      onDropped: (dropped) => dropped.forEach(({ event, data }) => void this.#tell(event, data)),
      onFlushed: (kept) => (kept > 0 ? this.#mark.cover(this.#sequence.last) : this.#mark.clear()),
    });
    this.store = {
      ...historyOf({ select: (from, which) => this.#select(from, which) }),
      lastSeq: () => this.#sequence.last,
      commit: (...commits) => this.#commit(commits),
      setMeta: (key, value) => this.#write(writeOf(META, { key, value }, options.clock.wallNow())),
      forget: (component) => this.#write(gone(COMPONENTS, { name: component })),
      health: () => condition.sentence(this.#outbox.kept),
      close: () => this.#close(),
    };
    disk.open();
    this.#skipUsedNumbers();
    this.#outbox.flush();
    this.#maintenance = setInterval(() => this.#maintain(), MAINTENANCE_MS).unref();
  }

  #commit(commits: readonly Commit[]): readonly EventView[] {
    const told = commits.map((commit) => {
      const events = (commit.events ?? []).map((event) => this.#sequence.number(event));
      this.#queue(commit, events);
      return events;
    });
    this.#outbox.flush();
    return told.flatMap((events) => events.map(eventView));
  }

  /** A commit that is not what its type says must not hold up the others. */
  #queue(commit: Commit, events: readonly NumberedEvent[]): void {
    try {
      const entry = entryOf(commit, events, this.#options.clock.wallNow());
      if (!this.#isBootKnown && events.length > 0) {
        entry.writes.add(this.#boot());
        this.#isBootKnown = true;
      }
      this.#push(entry);
    } catch (error) {
      this.#outbox.refuse({ ...commit, problem: String(error) });
    }
  }

  #boot(): RowWrite {
    const { clock } = this.#options;
    return writeOf(META, { key: BOOT, value: clock.bootId }, clock.wallNow());
  }

  #push(entry: Entry): void {
    this.#note(entry.writes);
    this.#outbox.push(entry);
  }

  #note(writes: Iterable<RowWrite>): void {
    for (const write of writes) if (write.into.over !== undefined) this.#open.put(write);
  }

  #write(write: RowWrite): void {
    this.#push({ writes: new Set([write]) });
    this.#outbox.flush();
  }

  #close(): void {
    clearInterval(this.#maintenance);
    clearTimeout(this.#restOfMaintenance);
    this.#outbox.close();
    this.#disk.close();
  }

  #maintain(): void {
    clearTimeout(this.#restOfMaintenance);
    const before = this.#oldBefore();
    const isUnfinished = this.#outbox.kept.size === 0 && this.#disk.maintain(before);
    this.#outbox.flush();
    if (isUnfinished) this.#restOfMaintenance = setTimeout(() => this.#maintain(), MAINTENANCE_PAUSE_MS).unref();
  }

  /** Both clocks are looked at with every maintenance; see ../rules/progress.ts. */
  #oldBefore(): number | null {
    const { clock, retentionMs } = this.#options;
    if (retentionMs === undefined) return null;
    const now = { bootId: clock.bootId, mono: clock.now(), wall: clock.wallNow() };
    const before = readProgress(metaOf(this.#open, PROGRESS));
    const after = observed(before, now, retentionMs());
    const isNews = after.marks !== before?.marks || after.countedMs - before.countedMs >= PROGRESS_MS;
    if (isNews) this.store.setMeta(PROGRESS, JSON.stringify(after));
    return oldBefore(after, retentionMs());
  }

  #skipUsedNumbers(): void {
    // Without the old numbers, the time is the only thing that is sure to be above them.
    if (!this.#hasRead) this.#sequence.raiseTo(this.#options.clock.wallNow());
    this.#skipThoseOfThePowerCut();
    const { last } = this.#sequence;
    if (this.#mark.covered <= last) return;
    this.#sequence.raiseTo(this.#mark.covered);
    this.#tell('store.events-lost', { after: last, reason: 'the daemon ended before they could be written' });
  }

  /** What was told last before the machine went down may not have reached the disk: its numbers may be known elsewhere. */
  #skipThoseOfThePowerCut(): void {
    const before = metaOf(this.#open, BOOT);
    this.#isBootKnown = before === this.#options.clock.bootId;
    if (before !== null && !this.#isBootKnown) this.#sequence.raiseTo(this.#sequence.last + TOLD_UNSYNCED);
  }

  /** The database knows, and this process does not: all of it at the start, less when it could only be opened later. */
  #learn(rows: Rows): void {
    for (const table of OPEN_TABLES)
      for (const row of rows.select(table, { isOpen: true, columns: table.columns })) {
        const write = rowWrite(table, row);
        if (!this.#open.has(write)) this.#open.put(write);
      }
    // What waits for the disk is newer than what was just read.
    this.#note(this.#outbox.kept.writes());
    this.#sequence.raiseTo(lastSeqOf(rows));
    this.#hasRead = true;
  }

  #tellAgain({ type, data, salvaged }: NewDatabase): void {
    if (!this.#hasRead) {
      this.#sequence.raiseTo(this.#options.clock.wallNow());
      this.#note(salvaged.map((row) => rowWrite(COMPONENTS, row)));
    }
    this.#outbox.startOver();
    for (const table of OPEN_TABLES)
      for (const write of this.#open.writesOf(table)) this.#outbox.push({ writes: new Set([write]) });
    this.#tell(type, data);
  }

  /** Only queues: every caller is about to write, or cannot. */
  #tell(type: string, data: Readonly<Record<string, unknown>>): void {
    const at = this.#options.clock.wallNow();
    const event = this.#sequence.number({ at, subject: { kind: 'daemon', name: 'keepwell' }, type, run: null, data });
    this.#push({ writes: new Set([writeOf(EVENTS, event, at)]) });
    try {
      this.#options.onEvent?.(eventView(event));
    } catch (error) {
      this.#options.log.error('an event of the store could not be passed on', { problem: String(error) });
    }
  }

  /** What never is over is known without the disk. */
  readonly #select: Rows['select'] = (from, which) => {
    if (from.over?.length === 0) return this.#open.select(from, which);
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        const found = this.#outbox.kept.laidOver(this.#disk.rows).select(from, which);
        this.#condition.reading(null);
        return found;
      } catch (error) {
        this.#readFailed(error);
      }
    }
    return this.#outbox.kept.laidOver(null).select(from, which);
  };

  #readFailed(error: unknown): void {
    const { kind, words } = problemOf(error);
    const isNews = this.#condition.reading(words);
    if (isNews) this.#options.log.error('the history cannot be read', { problem: words });
    if (kind !== 'damaged') return;
    this.#disk.damaged(words);
    this.#outbox.flush();
  }
}

// What is remembered about the clocks, for the retention.

/** Null: nothing that can be read, so counting begins anew and nothing is old for a while. */
export function readProgress(text: string | null): Progress | null {
  const isWhole = (value: unknown) =>
    isObject(value) && isObject(value['last']) && Number.isFinite(value['countedMs']) && isList(value['marks']);
  const progress = parsed<Progress | null>(text ?? undefined, null, isWhole);
  return progress !== null && progress.marks.length > 0 ? progress : null;
}
