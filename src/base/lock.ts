/**
 * One daemon per project: an exclusive SQLite transaction on lock.db, held for as long as the daemon lives. The kernel takes the
 * lock away with the process, also after kill -9, so there is nothing stale to clean up and no pid file to believe.
 *
 * The lock belongs to the process and is lost when *any* descriptor of the file is closed in it. So nothing but SQLite ever opens
 * lock.db in this process while it holds the lock; and the handle is kept in `held`, because a collected handle is a closed one.
 */
import { chmodSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from './pure/errors.ts';
import { type Database, loadSqlite, type Sqlite } from './sqlite.ts';

export interface ProjectLock {
  /** False once lock.db was removed or replaced: another daemon may hold the new file. */
  isInPlace(): boolean;
  release(): void;
}

const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

/** Contenders that arrive together can block each other, so that nobody wins. Each tries again after a time of its own. */
const TRIES = 4;
const MAX_PAUSE_MS = 20;

const held = new Set<Database>();

/** Null when another process (or another caller in this one) holds the lock. Throws LOCK_UNAVAILABLE when the file cannot be used. */
export async function takeLock(path: string): Promise<ProjectLock | null> {
  const sqlite = await loadSqlite();
  for (let tries = 1; ; tries += 1) {
    const result = tryOnce(sqlite, path);
    if (result !== 'busy' && result !== 'not-a-database') return result;
    if (result === 'not-a-database') empty(path);
    if (tries === TRIES) return null;
    await sleep(Math.random() * MAX_PAUSE_MS);
  }
}

function tryOnce(sqlite: Sqlite, path: string): ProjectLock | 'busy' | 'not-a-database' {
  let db: Database | null = null;
  try {
    db = sqlite.open(path, 'read-write');
    // The journal in memory: taking the lock then needs no disk space, and lock.db stays empty for ever (see `empty`).
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return hold(db, path);
  } catch (error) {
    db?.close();
    const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
    if (code === SQLITE_BUSY) return 'busy';
    if (code === SQLITE_NOTADB) return 'not-a-database';
    throw unavailable(path, error);
  }
}

function hold(db: Database, path: string): ProjectLock {
  held.add(db);
  closeToOthers(path);
  const inode = inodeOf(path);
  return {
    isInPlace: () => inodeOf(path) === inode,
    release: () => {
      if (held.delete(db)) db.close();
    },
  };
}

/**
 * Somebody's bytes are in lock.db. They are cut away in place, never by a new file: all contenders keep meeting on the same inode.
 * That cannot hurt a holder. While somebody holds the lock, others are told "busy" before the content is looked at; and one that
 * was told "not a database" earlier, and comes here late, cuts an empty file to nothing.
 */
function empty(path: string): void {
  try {
    truncateSync(path, 0);
  } catch (error) {
    throw unavailable(path, error);
  }
}

/** Somebody who can read the file could lock us out by reading it. Not ours to change (EPERM): then it is not ours to worry about. */
function closeToOthers(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // The state directory is closed to others as well; this is the second door.
  }
}

const inodeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.ino ?? null;

function unavailable(path: string, cause: unknown): AppError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new AppError('LOCK_UNAVAILABLE', { path, problem }, { cause });
}
