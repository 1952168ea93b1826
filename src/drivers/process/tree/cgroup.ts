/**
 * One cgroup (v2) per run: the kernel itself keeps the list of everything a run has started, whatever session or parent it
 * has, and `cgroup.kill` ends all of it at once without a pid in sight. No controller is needed for that.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { RunId } from '../../../core/ids.ts';
import { isAlive, type ProcStat, readProcStat } from '../proc.ts';

const HOME_PREFIX = 'keepwell-';

/** The cgroup under which this home's runs get theirs, or null where cgroups cannot be used. */
export function findHomeCgroup(home: string, sh: string): string | null {
  const own = ownCgroup();
  if (own === null) return null;
  const path = join(own, HOME_PREFIX + createHash('sha256').update(home).digest('hex').slice(0, 12));
  return isUsable(path, sh) ? path : null;
}

/** Where our own cgroup is mounted. Containers may see only a part of the tree, whose root is the fourth field. */
function ownCgroup(): string | null {
  try {
    const [, own] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const mount = mounts.map((line) => line.split(' ')).find((words) => words[words.indexOf('-') + 1] === 'cgroup2');
    if (!own || !mount?.[3] || !mount[4]) return null;
    const inside = relative(mount[3], own);
    return inside.startsWith('..') ? null : join(mount[4], inside);
  } catch {
    return null;
  }
}

/**
 * Tried, not guessed: whether a process may be moved depends on ownership up to the common ancestor, on threaded cgroups and
 * on namespaces. Trying costs one `sh`.
 */
function isUsable(path: string, sh: string): boolean {
  const probe = join(path, `.probe-${process.pid}`);
  try {
    mkdirSync(probe, { recursive: true });
    if (!existsSync(join(probe, 'cgroup.kill'))) return false;
    const script = 'printf 0 >"$1/cgroup.procs"';
    return spawnSync(sh, ['-c', script, 'sh', probe], { cwd: '/', stdio: 'ignore' }).status === 0;
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

/** Everything alive in the cgroup and in those made below it. */
export function cgroupMembers(path: string): readonly ProcStat[] {
  const pids = readPids(path);
  const members: ProcStat[] = [];
  for (const pid of pids) {
    const stat = readProcStat(pid);
    if (stat && isAlive(stat)) members.push(stat);
  }
  for (const child of childCgroups(path)) members.push(...cgroupMembers(child));
  return members;
}

function readPids(path: string): readonly number[] {
  try {
    const lines = readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n');
    return lines.map(Number).filter((pid) => pid > 0); // 0: a process of another pid namespace
  } catch {
    return [];
  }
}

export function childCgroups(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name));
  } catch {
    return [];
  }
}

/** Ends everything in it. A cgroup that is gone has nobody left to end. False when it could not be done. */
export function killCgroup(path: string): boolean {
  try {
    writeFileSync(join(path, 'cgroup.kill'), '1');
    return true;
  } catch (error) {
    return ['ENOENT', 'ENODEV'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** With everything made below it. False while something is still in it. */
export function removeCgroup(path: string): boolean {
  for (const child of childCgroups(path)) removeCgroup(child);
  return removeEmpty(path);
}

/** Only itself, and only when it is empty: the cgroup of a run that has not joined it yet is empty, too, and must stay. */
export function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** How often the kernel killed in this cgroup for lack of memory; 0 where memory is not counted. */
export function oomKills(path: string): number {
  try {
    const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(join(path, 'memory.events'), 'utf8')) ?? [];
    return Number(count ?? 0);
  } catch {
    return 0;
  }
}
