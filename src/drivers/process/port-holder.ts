/**
 * Who listens on a port: "nginx (pid 812)". Best effort and bounded: the kernel names the socket, and the processes we may look into
 * are looked through for it. Only called when something died because a port was taken, and once for a run that is asked on one.
 */
import { opendirSync, readdirSync, readlinkSync } from 'node:fs';
import { errorCode, meansGone } from '../../base/pure/errno.ts';
import { isListeningOn } from './examine/sockets.ts';
import { readProcStat } from './proc.ts';
import { readProcFile } from './proc-file.ts';

/** Of our own time: the event loop waits meanwhile. Mostly it takes a few milliseconds, and a busy machine only makes them longer. */
const MAX_LOOK_MS = 200;
const US_PER_MS = 1_000;
const MAX_FDS = 4_096;

export interface PortHolder {
  readonly pid: number;
  readonly name: string;
}

export function portHolder(port: number): string | null {
  try {
    const found = searchPortHolder(port, new Set());
    if (found === null || found === 'not-yet') return null;
    const { name, pid } = firstOf(found, listeners(port));
    return `${name} (pid ${pid})`;
  } catch {
    return null;
  }
}

/** A worker has the sockets of its master, and a child those of its parent until it becomes another program: the first of them has the port. */
function firstOf(holder: PortHolder, sockets: ReadonlySet<string>): PortHolder {
  const parent = readProcStat(holder.pid)?.ppid;
  return parent === undefined || !holds(String(parent), sockets) ? holder : firstOf(named(parent), sockets);
}

const named = (pid: number): PortHolder => ({
  pid,
  name: (readProcFile(`/proc/${pid}/comm`) ?? 'a process').trim(),
});

/**
 * Null: nobody, or nobody whom we may look into. 'not-yet': the time was up; called again with the same `looked`, which has the processes
 * that were looked through, it goes on.
 */
export function searchPortHolder(port: number, looked: Set<string>): PortHolder | null | 'not-yet' {
  const inodes = listeners(port);
  return inodes.size === 0 ? null : holderOf(inodes, looked);
}

/** Does one of these processes listen on the port? Also with a socket that it was given. */
export function isHeldBy(port: number, pids: readonly number[]): boolean {
  const inodes = listeners(port);
  return inodes.size > 0 && pids.some((pid) => holds(String(pid), inodes));
}

/** Was it started by a Keepwell, as part of a run? Its environment says so. */
export const isOfARun = (pid: number): boolean =>
  /(?:^|\0)KEEPWELL_RUN=/.test(readProcFile(`/proc/${pid}/environ`) ?? '');

function listeners(port: number): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const kind of ['tcp', 'tcp6']) {
    for (const line of (readProcFile(`/proc/net/${kind}`) ?? '').split('\n').slice(1)) {
      const inode = isListeningOn(line, port);
      if (inode !== null) inodes.add(`socket:[${inode}]`);
    }
  }
  return inodes;
}

function holderOf(sockets: ReadonlySet<string>, looked: Set<string>): PortHolder | null | 'not-yet' {
  const began = process.cpuUsage();
  // The newest processes first: what took the port just now is more likely than what runs since the boot.
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !looked.has(name));
  for (const pid of pids.reverse()) {
    const { user, system } = process.cpuUsage(began);
    if (user + system > MAX_LOOK_MS * US_PER_MS) return 'not-yet';
    looked.add(pid);
    if (holds(pid, sockets)) return named(Number(pid));
  }
  return null;
}

const holds = (pid: string, sockets: ReadonlySet<string>): boolean =>
  fdsOf(pid).some((fd) => sockets.has(target(`/proc/${pid}/fd/${fd}`)));

const fdsOf = (pid: string): readonly string[] => ifOurs(() => firstNames(`/proc/${pid}/fd`, MAX_FDS)) ?? [];

const target = (path: string): string => ifOurs(() => readlinkSync(path)) ?? '';

/** Null: it is gone, or not ours. Throws when that is not known just now: nobody is accused of what was not looked at. */
function ifOurs<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (meansGone(error) || ['EACCES', 'EPERM'].includes(errorCode(error))) return null;
    throw error;
  }
}

// The first names in a directory. One that somebody else fills may have a million, and reading them all would hold up everything.

/** So many are asked of the kernel at a time. */
const AT_A_TIME = 256;

/** Throws what opening it throws. */
export function firstNames(path: string, count: number): readonly string[] {
  const dir = opendirSync(path, { bufferSize: Math.min(count, AT_A_TIME) });
  try {
    const names: string[] = [];
    for (let entry = dir.readSync(); entry !== null && names.length < count; entry = dir.readSync())
      names.push(entry.name);
    return names;
  } finally {
    dir.closeSync();
  }
}
