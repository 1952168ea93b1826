/** A damaged database is set aside under a name that says when, never deleted at once: somebody may want to look into it. */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { WallMs } from '../../base/pure/ids.ts';
import { isoTime } from '../views.ts';

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
