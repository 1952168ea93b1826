/** One open database, checked and brought to our schema. */
import { accessSync, chmodSync, closeSync, constants, fdatasync, openSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Database, Row, Sqlite } from '../../base/sqlite.ts';
import { num, str, strOrNull } from '../cells.ts';
import { rescued, restartsKey } from '../components.ts';
import { type Entry, TABLES } from '../entry.ts';
import { lastSeqOf } from '../events.ts';
import type { Rows } from '../table.ts';
import { LATEST, migrate, schemaVersion, transaction } from './migrations.ts';
import { DamagedError, problemOf } from './problem.ts';
import { OLDEST_READABLE, SqliteRows, Writer } from './rows.ts';

/** Waiting for another process blocks the event loop, so it is short; what cannot be written meanwhile is kept. */
export const BUSY_TIMEOUT_MS = 250;

/** More than this is only in the WAL while somebody keeps reading an old state of the database. */
export const MAX_WAL_BYTES = 64 * 1024 * 1024;

const MAX_FULL_CHECK_BYTES = 32 * 1024 * 1024;

/** FULL: what was acknowledged is still there after a power cut. Who may wait for that is written with NORMAL, and synced by itself. */
const SETTINGS = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16000;
PRAGMA journal_size_limit = ${MAX_WAL_BYTES};
PRAGMA foreign_keys = ON;
`;

export interface Connection {
  readonly rows: Rows;
  /** All of it or nothing of it, and on the disk when it returns; with `syncLater` it is there after the next `sync`. Throws. */
  write(batch: readonly Entry[], syncLater: boolean): void;
  /** What was written is on the disk once this resolves. */
  sync(): Promise<void>;
  /** Deletes some of what is kept no longer; true when there is more of it. `oldBefore`: null for nothing is old. Throws. */
  prune(oldBefore: number | null): boolean;
  /** How long a write may wait for another process. */
  setBusyTimeout(ms: number): void;
  /** Moves the WAL into the database and empties it, unless somebody is reading just now. */
  checkpoint(): void;
  /** False once the file at the path is another one: what is written then would go nowhere. */
  isInPlace(): boolean;
  close(): void;
}

/** Throws DamagedError, NewerSchemaError or an error of the driver. */
export function openConnection(sqlite: Sqlite, path: string): Connection {
  createPrivately(path);
  const db = sqlite.open(path, 'read-write');
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    schemaVersion(db);
    check(db, sizeOf(path) ?? 0);
    db.exec(SETTINGS);
    migrate(db);
    const [rows, writer] = [new SqliteRows(db, LATEST), new Writer(db)];
    refuseImpossibleNumbers(rows);
    refuseReadOnlyByItself(db, path);
    return connection({ db, path, rows, write: (batch, later) => writer.write(batch, later), prune: pruner(db) });
  } catch (error) {
    const isDamage = problemOf(error).kind === 'damaged' || isMisfit(error);
    const damage = isDamage ? new DamagedError(wordsFor(error), salvage(db)) : null;
    quietly(() => db.close());
    throw damage ?? error;
  }
}

/**
 * A database that cannot be opened for writing (full disk, read-only file system) or brought to our schema can still be read as it
 * is. One that was closed properly needs nothing for that; one with a WAL needs the files that SQLite reads it through. Null when
 * that does not work either.
 */
export function openAside(sqlite: Sqlite, path: string, why: unknown): Connection | null {
  if (!sizeOf(path)) return null;
  const hasWal = (sizeOf(`${path}-wal`) ?? 0) > 0;
  let db: Database | null = null;
  try {
    db = sqlite.open(path, hasWal ? 'read-only' : 'immutable');
    const version = schemaVersion(db);
    if (version < OLDEST_READABLE) throw new Error('nothing to read');
    const refuse = () => {
      throw why;
    };
    return connection({ db, path, rows: new SqliteRows(db, version), write: refuse, prune: refuse });
  } catch {
    quietly(() => db?.close());
    return null;
  }
}

interface Parts extends Pick<Connection, 'rows' | 'write' | 'prune'> {
  readonly db: Database;
  readonly path: string;
}

/** Every kind has its turn, also when the one before it is not done. */
function pruner(db: Database): Connection['prune'] {
  const [stretches, old] = [retention(db), oldRows(db)];
  return (before) => [stretches(), before !== null && old(before)].includes(true);
}

function connection({ db, path, rows, write, prune }: Parts): Connection {
  const inode = inodeOf(path);
  const wal = new WalFile(path);
  const setBusyTimeout = (ms: number) => db.exec(`PRAGMA busy_timeout = ${ms}`);
  return {
    rows,
    write,
    prune,
    setBusyTimeout,
    sync: () => wal.sync(),
    checkpoint: () => {
      setBusyTimeout(0);
      try {
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        setBusyTimeout(BUSY_TIMEOUT_MS);
      }
    },
    isInPlace: () => inodeOf(path) === inode,
    close: () => {
      quietly(() => wal.close());
      quietly(() => db.close());
    },
  };
}

/**
 * The WAL through a descriptor of ours, to be synced in another thread. SQLite has its locks on the other two files, so that closing this
 * one takes none of them away.
 */
class WalFile {
  readonly #path: string;
  #fd: number | null = null;
  #isSyncing = false;
  #isClosed = false;

  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  async sync(): Promise<void> {
    this.#fd ??= openSync(this.#path, 'r');
    this.#isSyncing = true;
    try {
      await promisify(fdatasync)(this.#fd);
    } finally {
      this.#isSyncing = false;
      if (this.#isClosed) this.close();
    }
  }

  /** At the end of a sync that is under way: its number could mean another file by then. */
  close(): void {
    this.#isClosed = true;
    if (this.#isSyncing || this.#fd === null) return;
    closeSync(this.#fd);
    this.#fd = null;
  }
}

/** SQLite would create the file readable for everybody; the -wal and -shm files get the same mode as this one. */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    quietly(() => chmodSync(path, 0o600));
  }
}

/**
 * quick_check reads every page (1.5 ms per MB) but does not compare indexes with their tables, and a wrong index hides rows without
 * a word. integrity_check does, and takes up to four times as long: affordable while the file is small.
 */
function check(db: Database, sizeBytes: number): void {
  const pragma = sizeBytes <= MAX_FULL_CHECK_BYTES ? 'integrity_check' : 'quick_check';
  const found = str(db.prepare(`PRAGMA ${pragma}(1)`).get()?.[pragma]);
  if (found !== 'ok') throw new DamagedError(`the database is damaged (${found})`);
}

/** A flipped bit can make a sequence number astronomical, and then there would be no next one. */
function refuseImpossibleNumbers(rows: Rows): void {
  const last = lastSeqOf(rows);
  if (!(last >= 0 && last < Number.MAX_SAFE_INTEGER / 2)) throw new DamagedError(`impossible sequence number ${last}`);
}

const SQLITE_READONLY = 8;

/** A changed byte in the header can make SQLite refuse to write for ever, although nothing is in the way. */
function refuseReadOnlyByItself(db: Database, path: string): void {
  try {
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${LATEST}`);
  } catch (error) {
    const isReadOnly = (error as { errcode?: number }).errcode === SQLITE_READONLY;
    if (isReadOnly && mayWrite(path)) throw new DamagedError('the database calls itself read-only');
    // Busy, full, really read-only: the first commit finds out by itself, and is kept.
  } finally {
    quietly(() => db.exec('ROLLBACK'));
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** At opening a plain SQL error means that the schema is not what its version says. */
const isMisfit = (error: unknown): boolean => ((error as { errcode?: number }).errcode ?? 0) % 256 === 1;

const wordsFor = (error: unknown): string =>
  isMisfit(error) ? `the tables are not as expected (${(error as Error).message})` : problemOf(error).words;

function salvage(db: Database): readonly Row[] {
  try {
    const rows = db.prepare('SELECT * FROM components').all();
    const all = rows.map((row) => rescued(row, restartsIn(db, str(row['name']))));
    return all.filter((row) => row !== null);
  } catch {
    return [];
  }
}

/** Null: there are none, or they cannot be read; then its limit begins anew. */
function restartsIn(db: Database, name: string): string | null {
  try {
    return strOrNull(db.prepare('SELECT value FROM meta WHERE key = $key').get({ key: restartsKey(name) })?.['value']);
  } catch {
    return null;
  }
}

export const inodeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.ino ?? null;

/** Null when there is no such file. */
export const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

export function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The caller is giving up on this handle anyway.
  }
}

// Deletes what is older than the retention, a bounded number of rows a pass. What is open stays, and what it refers to.

export const OLD_ROWS_PER_PASS = 500;

/** One pass; true when it had to leave some for the next one. Throws what the driver throws. */
function oldRows(db: Database): (before: number) => boolean {
  const rules = TABLES.flatMap(({ table, old }) => {
    if (old === undefined) return [];
    const find = db.prepare(`SELECT rowid AS id FROM ${table} WHERE ${old} LIMIT ${OLD_ROWS_PER_PASS}`);
    return [{ find, remove: db.prepare(`DELETE FROM ${table} WHERE rowid = $id`) }];
  });
  return (before) => {
    const counts = rules.map(({ find, remove }) => {
      const ids = find.all({ before }).map((row) => num(row['id']));
      if (ids.length > 0) transaction(db, () => ids.forEach((id) => void remove.run({ id })));
      return ids.length;
    });
    return counts.some((count) => count >= OLD_ROWS_PER_PASS);
  };
}

// Deletes stretches of probe answers, of samples and of check results that nobody will ask for any more. Passes through the components (or
// checks) in turn, a few of them and a bounded number of rows each time, because the event loop waits meanwhile.

/**
 * Of each component, or check, and kind: months of steady answers, or half an hour of a probe that changes its mind every second;
 * months of a component that idles, or a day and a half of one that never uses the same twice.
 */
export const MAX_STRETCHES = 2_000;
export const COMPONENTS_PER_PASS = 50;
export const ROWS_PER_PASS = 1_000;
/** A stretch that goes on may have begun before all others; there is one for each probe, and a few from the last run. */
const MAX_OPEN = 16;

const sqlFor = (table: string, whose: string) => ({
  nextComponent: `SELECT min(${whose}) AS component FROM ${table} WHERE ${whose} > $after`,
  count: `SELECT count(*) AS count FROM (
    SELECT 1 FROM ${table} WHERE ${whose} = $component LIMIT ${MAX_STRETCHES + ROWS_PER_PASS})`,
  // The index knows which began first; of these, those go whose last answer is the oldest.
  delete: `DELETE FROM ${table} WHERE rowid IN (
    SELECT rowid FROM (
      SELECT rowid, last_at FROM ${table} WHERE ${whose} = $component ORDER BY first_at LIMIT $excess + ${MAX_OPEN})
    ORDER BY last_at LIMIT $excess)`,
});

interface ExcessRows {
  readonly found: readonly { readonly component: string; readonly excess: number }[];
  /** Everything up to this component has been looked at; '' before the first. */
  readonly cursor: string;
  readonly isDone: boolean;
}

/** Each call is one pass; true when it had to leave some for the next one. Throws what the driver throws. */
export function retention(db: Database): () => boolean {
  const passes = TABLES.flatMap(({ table, per }) => (per === undefined ? [] : [passOver(db, table, per)]));
  // Every table has its turn, also when the one before it is not done.
  return () => passes.map((pass) => pass()).includes(true);
}

function passOver(db: Database, table: string, whose: string): () => boolean {
  const sql = sqlFor(table, whose);
  const [nextComponent, count, remove] = [db.prepare(sql.nextComponent), db.prepare(sql.count), db.prepare(sql.delete)];
  let cursor = '';

  function look(from: string): ExcessRows {
    const found: { component: string; excess: number }[] = [];
    let [after, rowsLeft] = [from, ROWS_PER_PASS];
    for (let looked = 0; looked < COMPONENTS_PER_PASS; looked += 1) {
      const component = str(nextComponent.get({ after })?.['component']);
      if (component === '') return { found, cursor: '', isDone: true };
      const excess = Math.min(num(count.get({ component })?.['count']) - MAX_STRETCHES, rowsLeft);
      if (excess > 0) found.push({ component, excess });
      rowsLeft -= Math.max(0, excess);
      if (rowsLeft === 0) break;
      after = component;
    }
    return { found, cursor: after, isDone: false };
  }

  return () => {
    const { found, isDone, cursor: next } = look(cursor);
    if (found.length > 0) transaction(db, () => found.forEach((row) => void remove.run(row)));
    cursor = next;
    return !isDone;
  };
}
