/** Moves a database that nobody uses to another place. */
import { closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadSqlite } from '../../base/sqlite.ts';

/** False: another program has it open, so it stays. Killed anywhere, it is whole at one of the two places. Throws when it cannot be. */
export async function moveDatabase(from: string, to: string): Promise<boolean> {
  if (!(await isFree(from))) return false;
  mkdirSync(dirname(to), { recursive: true });
  moveFile(from, to);
  for (const beside of ['.seq']) if (existsSync(`${from}${beside}`)) moveFile(`${from}${beside}`, `${to}${beside}`);
  return true;
}

/** Out of WAL mode all of it is in one file; SQLite allows that only to the last one who has it open. */
async function isFree(path: string): Promise<boolean> {
  const db = (await loadSqlite()).open(path, 'read-write');
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE');
    return !existsSync(`${path}-wal`);
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
