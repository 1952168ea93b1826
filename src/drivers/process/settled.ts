/** Whether the main process of a run carries the marks by which all of its tree is found. */
import type { RunId } from '../../base/pure/ids.ts';
import { isAlive, readProcStat } from './proc.ts';
import type { Started } from './run-dir.ts';
import { cookieOf } from './tree/proc-scan.ts';

/** In its cgroup it is found without any mark. One that is gone needs none. Throws when that is not known just now. */
export function isSettled({ pid, startTime, inCgroup }: Started, run: RunId): boolean {
  if (inCgroup) return true;
  const stat = readProcStat(pid);
  if (stat === null || stat.startTime !== startTime || !isAlive(stat)) return true;
  return stat.session === pid && cookieOf(pid) === run;
}
