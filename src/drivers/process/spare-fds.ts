/**
 * Keeps a few file descriptors free for everything but runs. Each run holds one; with the last one gone nobody could even ask the
 * daemon how things are, and nothing could be stopped to make room.
 */
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { SpawnProblem } from '../../core/exit.ts';
import { passing } from './command/spawn-problem.ts';

const SPARE_FDS = 16;
/** Where there are very few, most of them still are for runs. */
const SPARE_RATIO = 0.25;

let limit: number | null = null;

/** Null: there is room for one more run. */
export function tooFewFds(): SpawnProblem | null {
  limit ??= ownLimit();
  const spare = Math.min(SPARE_FDS, Math.floor(limit * SPARE_RATIO));
  return lowestFreeFd() < limit - spare
    ? null
    : passing(
        'out-of-resources',
        `the daemon may open ${limit} files, and nearly all are in use (raise its limit of open files)`,
      );
}

/** All below it are in use. Throws EMFILE when there is none at all. */
function lowestFreeFd(): number {
  const fd = openSync('/dev/null', 'r');
  closeSync(fd);
  return fd;
}

function ownLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
