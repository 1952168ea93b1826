/** A damaged database is set aside under a name that says when, never deleted at once: somebody may want to look into it. */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { WallMs } from '../../core/ids.ts';
import { isoTime } from '../views.ts';

/** A failing disk damages one database after the other; the copies must not fill what is left of it. */
const MAX_SETS = 5;

/** Gives back the new file name. Throws when even renaming is not possible. */
export function setAside(path: string, at: WallMs): string {
  const stamp = isoTime(at).replaceAll(':', '-');
  const aside = `${path}.corrupt-${stamp}`;
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

function removeOldest(path: string): void {
  const prefix = `${basename(path)}.corrupt-`;
  const files = readdirSync(dirname(path)).filter((file) => file.startsWith(prefix));
  const sets = [...new Set(files.map((file) => file.replace(/-(wal|shm)$/, '')))].sort();
  for (const old of sets.slice(0, -MAX_SETS)) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(dirname(path), `${old}${suffix}`), { force: true });
  }
}
