/** The database on disk as the store sees it: there, only readable, or not there; it replaces a damaged one by itself. */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Row, Sqlite } from '../../base/sqlite.ts';
import { isoTime } from '../cells.ts';
import type { Entry } from '../entry.ts';
import type { Rows } from '../table.ts';
import type { Condition } from './condition.ts';
import {
  BUSY_TIMEOUT_MS,
  type Connection,
  MAX_WAL_BYTES,
  openAside,
  openConnection,
  quietly,
  sizeOf,
} from './connection.ts';
import { DamagedError, NewerSchemaError, problemOf } from './problem.ts';

/** A disk that damages a new database at once is not helped by a third one. */
const QUARANTINE_PAUSE_MS = 10_000;
/** SQLite empties the WAL into the database every 4 MB, but never makes the file smaller by itself. */
const MAX_IDLE_WAL_BYTES = 4 * 1024 * 1024;

export type WriteOutcome = 'written' | 'later' | 'again' | 'refused';

/** Why there is a new, empty database: told as an event. */
export interface NewDatabase {
  readonly type: 'store.quarantined' | 'store.replaced';
  readonly data: Readonly<Record<string, string>>;
  /** Rows of components. */
  readonly salvaged: readonly Row[];
}

export interface DiskOptions extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  readonly sqlite: Sqlite;
  readonly path: string;
  readonly condition: Condition;
  /** There is a database to read; called before anything is written to it. */
  readonly onOpen: (rows: Rows) => void;
  /** The old database is gone, and what is known must be written again. */
  readonly onAnew: (anew: NewDatabase) => void;
}

export class Disk {
  readonly #options: DiskOptions;
  #connection: Connection | null = null;
  #isWritable = false;
  #quarantinedAt: MonoMs | null = null;

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /** Null: there is nothing to read. */
  get rows(): Rows | null {
    return this.#connection?.rows ?? null;
  }

  /** False: only `open` can help. */
  get isWritable(): boolean {
    return this.#isWritable;
  }

  /** Throws only NewerSchemaError; with every other problem there is just no writable database yet. */
  open(): void {
    const { sqlite, path, failpoints, condition, onOpen } = this.#options;
    try {
      failpoints.hit('store.open');
      const opened = openConnection(sqlite, path);
      this.#connection?.close();
      this.#connection = opened;
      onOpen(opened.rows);
      this.#isWritable = true;
      condition.canWrite();
    } catch (error) {
      if (error instanceof NewerSchemaError) throw error;
      const { kind, words } = problemOf(error);
      if (kind === 'damaged') this.damaged(words, error instanceof DamagedError ? error.salvaged : []);
      else this.#cannotOpen(error);
    }
  }

  reopen(): void {
    try {
      this.open();
    } catch (error) {
      this.#cannotOpen(error);
    }
  }

  /** 'written': it is on the disk; with `syncLater` after the next `sync`. */
  write(batch: readonly Entry[], syncLater = false): WriteOutcome {
    if (this.#connection === null || !this.#isWritable) return 'later';
    try {
      this.#options.failpoints.hit('store.write');
      this.#connection.write(batch, syncLater);
    } catch (error) {
      return this.#writeFailed(error);
    }
    if (this.#options.condition.canWrite()) {
      this.#options.log.info('the history can be written again');
      quietly(() => this.#connection?.setBusyTimeout(BUSY_TIMEOUT_MS));
    }
    return 'written';
  }

  /** Rejects when it cannot be known what is on the disk. Without a database there is nothing to sync: what it had is written again. */
  async sync(): Promise<void> {
    this.#options.failpoints.hit('store.sync');
    await this.#connection?.sync();
    this.#options.failpoints.hit('store.synced');
  }

  /** All that was written, in the database itself and synced; throws. */
  checkpoint(): void {
    this.#connection?.checkpoint();
  }

  #writeFailed(error: unknown): WriteOutcome {
    const { condition, clock, log } = this.#options;
    const { kind, words } = problemOf(error);
    if (kind === 'refused') return 'refused';
    if (kind === 'damaged') {
      this.damaged(words);
      return this.#isWritable ? 'again' : 'later';
    }
    if (kind === 'reopen') this.#isWritable = false;
    if (condition.cannot('write', words, clock.wallNow()))
      log.error('the history cannot be written', { problem: words });
    // Known to be in trouble: from now on every try is only a try, and must not hold up the event loop.
    quietly(() => this.#connection?.setBusyTimeout(0));
    return 'later';
  }

  /** Sets the database aside and begins a new one. */
  damaged(words: string, salvaged: readonly Row[] = []): void {
    const { path, clock, condition, log } = this.#options;
    this.#drop();
    const now = clock.now();
    if (this.#quarantinedAt !== null && now - this.#quarantinedAt < QUARANTINE_PAUSE_MS) {
      condition.cannot('open', words, clock.wallNow());
      return;
    }
    this.#quarantinedAt = now;
    try {
      const file = setAside(path, clock.wallNow());
      log.error('the history was damaged; it is set aside and a new one begins', { problem: words, file });
      condition.begunAnew(`${words}; the old history is in ${file}`, clock.wallNow());
      this.#beginAnew({ type: 'store.quarantined', data: { file, problem: words }, salvaged });
    } catch (error) {
      this.#cannotOpen(error);
    }
  }

  /** From time to time: notices a file that was removed under us, keeps the WAL small and the stretches few. True: not done yet. */
  maintain(oldBefore: number | null = null): boolean {
    const { clock, condition, log } = this.#options;
    if (this.#connection === null || !this.#isWritable) return false;
    if (!this.#connection.isInPlace()) {
      const problem = 'the database file was removed or replaced';
      log.error(`${problem}; a new one begins`);
      condition.begunAnew(problem, clock.wallNow());
      this.#drop();
      this.#beginAnew({ type: 'store.replaced', data: { problem }, salvaged: [] });
      return false;
    }
    this.#emptyWal();
    return this.#prune(oldBefore);
  }

  /** It cannot be emptied while somebody reads; one that reads for hours is worth telling. */
  #emptyWal(): void {
    const { path, condition, log } = this.#options;
    const size = () => sizeOf(`${path}-wal`) ?? 0;
    if (size() > MAX_IDLE_WAL_BYTES) quietly(() => this.#connection?.checkpoint());
    const bytes = size();
    const isNews = condition.wal(bytes > MAX_WAL_BYTES ? bytes : null);
    if (isNews && bytes > MAX_WAL_BYTES) log.warn('the write-ahead log of the history cannot be emptied', { bytes });
  }

  /** What cannot be deleted now (busy, full disk) is deleted another time. */
  #prune(oldBefore: number | null): boolean {
    try {
      return this.#connection?.prune(oldBefore) ?? false;
    } catch (error) {
      const { kind, words } = problemOf(error);
      if (kind === 'damaged') this.damaged(words);
      return false;
    }
  }

  close(): void {
    if (this.#isWritable) quietly(() => this.#connection?.checkpoint());
    this.#drop();
  }

  #beginAnew(anew: NewDatabase): void {
    this.#options.onAnew(anew);
    this.reopen();
  }

  #drop(): void {
    this.#connection?.close();
    this.#connection = null;
    this.#isWritable = false;
  }

  #cannotOpen(error: unknown): void {
    const { sqlite, path, clock, condition, log, onOpen } = this.#options;
    const { words } = problemOf(error);
    this.#isWritable = false;
    if (condition.cannot('open', words, clock.wallNow())) log.error('the history cannot be opened', { problem: words });
    if (this.#connection !== null) return;
    this.#connection = openAside(sqlite, path, error);
    if (this.#connection !== null) quietly(() => onOpen(this.#connection!.rows));
  }
}

// A damaged database is set aside under a name that says when, never deleted at once: somebody may want to look into it.

/** A failing disk damages one database after the other; the copies must not fill what is left of it. */
const MAX_SETS = 5;

/** Gives back the new file name. Throws when even renaming is not possible. */
export function setAside(path: string, at: WallMs): string {
  const aside = `${path}.corrupt-${stampAfter(setsOf(path).at(-1), isoTime(at).replaceAll(':', '-'))}`;
  // The database first: killed after this, a left-over WAL stands beside no database, and SQLite removes it by itself.
  renameSync(path, aside);
  for (const suffix of ['-wal', '-shm']) renameIfThere(`${path}${suffix}`, `${aside}${suffix}`);
  removeOldest(path);
  return basename(aside);
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The clock may have been set back: names must still sort in the order in which things happened, or the newest would go first. */
function stampAfter(last: string | undefined, stamp: string): string {
  if (last === undefined || last < stamp) return stamp;
  const [, when = last, count = '1'] = /^(.*?)(?:\.(\d{4}))?$/.exec(last) ?? [];
  return `${when}.${String(Number(count) + 1).padStart(4, '0')}`;
}

/** The stamps of all sets, oldest first. */
function setsOf(path: string): readonly string[] {
  const prefix = `${basename(path)}.corrupt-`;
  const files = readdirSync(dirname(path)).filter((file) => file.startsWith(prefix));
  return [...new Set(files.map((file) => file.slice(prefix.length).replace(/-(wal|shm)$/, '')))].sort();
}

function removeOldest(path: string): void {
  for (const old of setsOf(path).slice(0, -MAX_SETS)) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}.corrupt-${old}${suffix}`, { force: true });
  }
}
