/** Processes that have ended and whose parent, a process of an agent, does not ask how: the kernel keeps them until it does. */
import { readdirSync } from 'node:fs';
import { readAnyProcStat } from '../drivers/process/proc.ts';

export interface Zombie {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

/** Children of these that are zombies. One look through /proc, and none when nobody asks. Throws when it cannot be looked through just now. */
export function zombiesOf(parents: ReadonlySet<number>): readonly Zombie[] {
  if (parents.size === 0) return [];
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  return pids.flatMap((pid) => {
    const stat = readAnyProcStat(pid);
    return stat && stat.state === 'Z' && parents.has(stat.ppid) ? [{ pid, parent: stat.ppid, name: stat.name }] : [];
  });
}
