/**
 * Who may take one of the daemon's file descriptors. Each run holds one; with the last one gone nobody could look at processes any more,
 * ask the daemon how things are, or stop something to make room.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

/** How many are left free, and at most which part of all there may be: where there are very few, most of them still are for runs. */
interface Spare {
  readonly count: number;
  readonly ratio: number;
}

// Watching comes first, then starts, then to be told of ends sooner than a look would find them, then questions.
const OF_STARTS: Spare = { count: 16, ratio: 0.25 };
const OF_LISTENING: Spare = { count: 32, ratio: 0.375 };
const OF_API: Spare = { count: 48, ratio: 0.5 };
/** So many connections may be open however scarce descriptors are, as long as there is one left: or nobody could stop anything. */
const CONNECTIONS_IN_NEED = 2;

/** Whether one more run may begin, also when all those that the launcher was asked for hold theirs. */
export const hasRoomForRun = (asked: number): boolean => isBelow(OF_STARTS, lowestFreeFd() + asked);

/** Whether the shim of a run that is there already may be listened to. Without that, the run is looked at now and then. */
export const hasRoomToListen = (): boolean => isBelow(OF_LISTENING, lowestFreeFd());

/** Whether the API may keep the connection that was just opened, its `open`th. */
export function hasRoomForConnection(open: number): boolean {
  try {
    const limit = ownLimit();
    const free = limit - openFiles();
    return free >= spareOf(OF_API, limit) || (open <= CONNECTIONS_IN_NEED && free > CONNECTIONS_IN_NEED);
  } catch {
    return false; // not even one is left to look with
  }
}

/** Read each time: it may be changed from outside. */
export function ownLimit(): number {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

const spareOf = ({ count, ratio }: Spare, limit: number): number => Math.min(count, Math.floor(limit * ratio));

function isBelow(spare: Spare, fd: number): boolean {
  const limit = ownLimit();
  return fd < limit - spareOf(spare, limit);
}

/** Without the one that is used to look. */
const openFiles = (): number => readdirSync('/proc/self/fd').length - 1;

/** All below it are in use. Throws EMFILE when there is none at all. */
function lowestFreeFd(): number {
  const fd = openSync('/dev/null', 'r');
  closeSync(fd);
  return fd;
}
