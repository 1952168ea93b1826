/**
 * Keeps a few file descriptors free for everything but runs, and many more for everything but the API. Each run holds one; with the
 * last one gone nobody could look at processes any more, ask the daemon how things are, or stop something to make room.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import { passing } from './command/spawn-problem.ts';

/** What starts of runs leave free, and what connections to the API do: watching comes first, then runs, then questions. */
const SPARE_FDS = 16;
const SPARE_FDS_OF_API = 48;
/** Where there are very few, most of them still are for runs. */
const SPARE_RATIO = 0.25;
const SPARE_RATIO_OF_API = 0.5;
/** So many connections may be open however scarce descriptors are, as long as there is one left: or nobody could stop anything. */
const CONNECTIONS_IN_NEED = 2;

/** Null: there is room for one more run. */
export function tooFewFds(): SpawnProblem | null {
  const limit = ownLimit();
  const spare = Math.min(SPARE_FDS, Math.floor(limit * SPARE_RATIO));
  return lowestFreeFd() < limit - spare
    ? null
    : passing(
        'out-of-resources',
        `the daemon may open ${limit} files, and nearly all are in use (raise its limit of open files)`,
      );
}

/** Whether the API may keep the connection that was just opened, its `open`th. */
export function hasRoomForConnection(open: number): boolean {
  try {
    const limit = ownLimit();
    const free = limit - openFiles();
    const spare = Math.min(SPARE_FDS_OF_API, Math.floor(limit * SPARE_RATIO_OF_API));
    return free >= spare || (open <= CONNECTIONS_IN_NEED && free > CONNECTIONS_IN_NEED);
  } catch {
    return false; // not even one is left to look with
  }
}

/** Without the one that is used to look. */
const openFiles = (): number => readdirSync('/proc/self/fd').length - 1;

/** All below it are in use. Throws EMFILE when there is none at all. */
function lowestFreeFd(): number {
  const fd = openSync('/dev/null', 'r');
  closeSync(fd);
  return fd;
}

/** Read each time: it may be changed from outside. */
function ownLimit(): number {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}
