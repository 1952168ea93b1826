/**
 * Where the database of a project is. `store.path` says where it should be; a note in the state directory says where it is, for
 * everybody who looks for it without reading the configuration. The caller holds the project.
 */
import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { defaultDb, type HomePaths, storeNote } from '../base/home.ts';
import { writeAtomically } from '../base/home-dir.ts';
import { takeLock } from '../base/lock.ts';
import type { Log } from '../base/log.ts';
import { AppError } from '../base/pure/errors.ts';
import { isMissing } from '../base/regular-file.ts';
import { loadSqlite } from '../base/sqlite.ts';

export interface StorePlace extends Disposable {
  readonly path: string;
}

const NO_LOCK: Disposable = { [Symbol.dispose]: () => {} };

export async function placeStore(paths: HomePaths, wanted: string | null, log: Log): Promise<StorePlace> {
  const own = defaultDb(paths.home);
  const target = wanted ?? own;
  const lock = target === own ? NO_LOCK : await lockFor(target);
  const path = await settled(paths.db, target, log);
  if (path !== paths.db || path === target) note(paths.home, path, own);
  return { path, [Symbol.dispose]: () => lock[Symbol.dispose]() };
}

/** Two projects must not write into one database. */
async function lockFor(path: string): Promise<Disposable> {
  try {
    // Not ours alone: others may keep their files there. The database itself is readable by its owner only.
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw new AppError('STORE_UNUSABLE', { path, problem: (error as Error).message }, { cause: error });
  }
  const lock = await takeLock(`${path}.lock`);
  if (lock === null) throw new AppError('STORE_UNUSABLE', { path, problem: 'another daemon uses it' });
  return { [Symbol.dispose]: () => lock.release() };
}

async function settled(current: string, target: string, log: Log): Promise<string> {
  if (current === target || isMissing(current)) return target;
  if (!isMissing(target)) {
    log.warn('there is a history at the new place already; the old one stays where it is', {
      used: target,
      old: current,
    });
    return target;
  }
  try {
    if (await moveDatabase(current, target)) {
      log.info('the history was moved', { from: current, to: target });
      return target;
    }
    log.warn('the history is in use by another program; it is moved at the next start', { path: current });
  } catch (error) {
    log.error('the history could not be moved; going on at the old place', { path: current, error: String(error) });
  }
  return current;
}

function note(home: string, path: string, own: string): void {
  if (path === own) rmSync(storeNote(home), { force: true });
  else writeAtomically(storeNote(home), `${path}\n`);
}

// Moves a database that nobody uses to another place.

/** False: another program has it open, so it stays. Killed anywhere, it is whole at one of the two places. Throws when it cannot be. */
export async function moveDatabase(from: string, to: string): Promise<boolean> {
  if (!(await isFree(from))) return false;
  mkdirSync(dirname(to), { recursive: true });
  moveFile(from, to);
  for (const beside of ['.seq']) if (!isMissing(`${from}${beside}`)) moveFile(`${from}${beside}`, `${to}${beside}`);
  return true;
}

/** Out of WAL mode all of it is in one file; SQLite allows that only to the last one who has it open. */
async function isFree(path: string): Promise<boolean> {
  const db = (await loadSqlite()).open(path, 'read-write');
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE');
    return isMissing(`${path}-wal`);
  } catch {
    return false;
  } finally {
    db.close();
  }
}

function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const half = `${to}.moving`;
    copyFileSync(from, half);
    const fd = openSync(half, 'r');
    fsyncSync(fd);
    closeSync(fd);
    renameSync(half, to);
    rmSync(from, { force: true });
  }
}
