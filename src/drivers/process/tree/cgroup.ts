/**
 * One cgroup (v2) per run: the kernel itself keeps the list of everything a run has started, whatever session or parent it
 * has, and `cgroup.kill` ends all of it at once without a pid in sight. No controller is needed for that.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { errorCode, meansGone } from '../../../base/pure/errno.ts';
import type { RunId } from '../../../base/pure/ids.ts';
import { isAlive, type ProcStat, readProcStat } from '../proc.ts';

/** The cgroup under which this home's runs get theirs, or null where cgroups cannot be used. */
export function findHomeCgroup(home: string, sh: string): string | null {
  const own = ownCgroup();
  if (own === null) return null;
  const path = join(own, homeName(home));
  if (!USABLE.has(path) && !isUsable(path, sh)) return null;
  USABLE.add(path);
  return path;
}

/** Runs and short commands ask for the same one. */
const USABLE = new Set<string>();

/**
 * Tried, not guessed: whether a process may be moved depends on ownership up to the common ancestor, on threaded cgroups and
 * on namespaces. Trying costs one `sh`.
 */
function isUsable(path: string, sh: string): boolean {
  return tryOut(path, sh, (probe) => existsSync(join(probe, 'cgroup.kill')));
}

/**
 * Finds out ahead of `findHomeCgroup`, while there is other work: a move takes the kernel ten milliseconds. What does not work is tried
 * once more by that one.
 */
export async function tryHomeCgroup(home: string, sh: string): Promise<void> {
  const own = ownCgroup();
  if (own === null) return;
  const path = join(own, homeName(home));
  const probe = probeBelow(path);
  try {
    mkdirSync(probe, { recursive: true });
    if (!existsSync(join(probe, 'cgroup.kill'))) return;
    const [code] = await once(spawn(sh, joinArgs(probe), QUIETLY), 'exit');
    if (code === 0) USABLE.add(path);
  } catch {
    // no cgroup, or no shell: so it will be found
  } finally {
    removeCgroup(probe);
  }
}

const probeBelow = (path: string): string => join(path, `.probe-${process.pid}`);
const joinArgs = (probe: string): readonly string[] => ['-c', 'printf 0 >"$1/cgroup.procs"', 'sh', probe];
const QUIETLY = { cwd: '/', stdio: 'ignore' } as const;

/** Whether a process could be put into a cgroup made below `path`, after `prepare` has agreed to it. Leaves nothing behind. */
export function tryOut(path: string, sh: string, prepare: (probe: string) => boolean): boolean {
  const probe = probeBelow(path);
  try {
    mkdirSync(probe, { recursive: true });
    if (!prepare(probe)) return false;
    return spawnSync(sh, joinArgs(probe), QUIETLY).status === 0;
  } catch {
    return false;
  } finally {
    removeCgroup(probe);
  }
}

/** Null when it cannot be made: the run then falls back to its process group and cookie. */
export function makeRunCgroup(homeCgroup: string, run: RunId): string | null {
  try {
    const path = join(homeCgroup, run);
    mkdirSync(path, { recursive: true });
    return path;
  } catch {
    return null;
  }
}

/** A path read from disk is about to be killed: it must be the one this run would have been given. */
export const isRunCgroup = (path: string, run: RunId): boolean =>
  basename(path) === run && basename(dirname(path)).startsWith(HOME_PREFIX);

/** ENODEV: it was removed while we had its file open. */
const isRemoved = (error: unknown): boolean => meansGone(error) || errorCode(error) === 'ENODEV';

/** Everything alive in the cgroup and in those made below it. Throws when that is not known just now. */
export function cgroupMembers(path: string): readonly ProcStat[] {
  const pids = readPids(path);
  const members: ProcStat[] = [];
  for (const pid of pids) {
    const stat = readProcStat(pid);
    if (stat && isAlive(stat)) members.push(stat);
  }
  return childCgroups(path).reduce((all, child) => all.concat(cgroupMembers(child)), members);
}

function readPids(path: string): readonly number[] {
  try {
    const lines = readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n');
    return lines.map(Number).filter((pid) => pid > 0); // 0: a process of another pid namespace
  } catch (error) {
    if (isRemoved(error)) return [];
    throw error;
  }
}

/** Throws when they cannot be listed just now. */
export function childCgroups(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name));
  } catch (error) {
    if (isRemoved(error)) return [];
    throw error;
  }
}

/** Ends everything in it. A cgroup that is gone has nobody left to end. False when it could not be done. */
export function killCgroup(path: string): boolean {
  try {
    writeFileSync(join(path, 'cgroup.kill'), '1');
    return true;
  } catch (error) {
    return isRemoved(error);
  }
}

/** With everything made below it. False while something is still in it, or may be. */
export function removeCgroup(path: string): boolean {
  try {
    for (const child of childCgroups(path)) removeCgroup(child);
  } catch {
    return false;
  }
  return removeEmpty(path);
}

/** Only itself, and only when it is empty: the cgroup of a run that has not joined it yet is empty, too, and must stay. */
export function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return meansGone(error);
  }
}

/**
 * How often the kernel killed in this cgroup for lack of memory; 0 where memory is not counted. The second file is that of v1. Throws
 * when that cannot be read just now.
 */
export function oomKills(path: string): number {
  for (const file of ['memory.events', 'memory.oom_control']) {
    try {
      const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(join(path, file), 'utf8')) ?? [];
      return Number(count ?? 0);
    } catch (error) {
      if (!isRemoved(error)) throw error;
    }
  }
  return 0;
}

// Where our own cgroups are in the file system: the one of v2, and with v1 one for each controller.

export type Controller = 'memory' | 'pids';
/** A hierarchy of cgroups: the one of v2, or the one of v1 that has this controller. */
export type CgroupKind = 2 | Controller | 'cpuacct';

export const HOME_PREFIX = 'keepwell-';

/** The name under which everything of one state directory is kept. */
export const homeName = (home: string): string =>
  HOME_PREFIX + createHash('sha256').update(home).digest('hex').slice(0, 12);

export const ownCgroup = (): string | null => cgroupOf('self', 2);

/** Of the hierarchy that has this controller. */
export const ownCgroupV1 = (controller: Controller): string | null => cgroupOf('self', controller);

/** Our own cgroup (v2), and all those around it that can be seen from here, innermost first. */
export function cgroupsAround(): readonly string[] {
  const mount = findMount(2);
  const around: string[] = [];
  for (let path = ownCgroup(); mount && path !== null; path = path === mount.point ? null : dirname(path))
    around.push(path);
  return around;
}

/** In v2, or in the hierarchy of v1 that has this controller. Containers may see only a part of the tree: the root of the mount. */
export function cgroupOf(pid: number | 'self', which: CgroupKind): string | null {
  const mount = findMount(which);
  const lines = read(`/proc/${pid}/cgroup`).map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const mine = lines.find((line) => line && (which === 2 ? line[1] === '' : line[1]?.split(',').includes(which)));
  if (!mount || !mine?.[2]) return null;
  const inside = relative(mount.root, mine[2]);
  return inside.startsWith('..') ? null : join(mount.point, inside);
}

interface Mount {
  readonly root: string;
  readonly point: string;
}

/** Those that were found: a hierarchy is not mounted elsewhere while processes are in it. */
const mounts = new Map<CgroupKind, Mount>();

function findMount(which: CgroupKind): Mount | null {
  const known = mounts.get(which);
  if (known) return known;
  for (const line of read('/proc/self/mountinfo')) {
    const words = line.split(' ');
    const [type, , options = ''] = words.slice(words.indexOf('-') + 1);
    const fits = which === 2 ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(which);
    if (!fits || !words[3] || !words[4]) continue;
    const mount = { root: words[3], point: words[4] };
    mounts.set(which, mount);
    return mount;
  }
  return null;
}

function read(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
