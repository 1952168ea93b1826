/** The processes of a container, where the Engine is on this machine: they are processes like others. */
import { readdir } from 'node:fs/promises';
import type { ProcessInfo } from '../../supervision/ports/driver.ts';
import { isAlive, type ProcStat, readAnyProcStat, readProcStat } from '../process/proc.ts';
import { peekProcFile } from '../process/proc-file.ts';
import { Pace } from '../process/usage/pace.ts';

/** The control group of a container has its full id in its name. */
const isIn = (pid: number, container: string): boolean =>
  peekProcFile(`/proc/${pid}/cgroup`)?.includes(container) ?? false;

/** Null: it is not on this machine, or not for us to see. */
export function mainOf(pid: number | null, container: string): ProcStat | null {
  if (pid === null || !isIn(pid, container)) return null;
  try {
    const stat = readProcStat(pid);
    return stat !== null && isAlive(stat) ? stat : null;
  } catch {
    return null; // it is only looked at to be described
  }
}

export async function membersOf(container: string): Promise<readonly ProcStat[]> {
  const pace = new Pace();
  const found: ProcStat[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    const stat = isIn(pid, container) ? readAnyProcStat(pid) : null;
    if (stat !== null && isAlive(stat)) found.push(stat);
    await pace.breathe();
  }
  return found;
}

export const infoOf = ({ pid, name, state }: ProcStat): ProcessInfo => ({ pid, name, state });
