/**
 * Where the kernel counts what a container uses. To read three small files takes a moment, to ask the Engine, which reads the
 * same ones, up to a second. Only when the process the Engine names is one of this machine: the path has the container's id in it.
 */

import { readNumber, sumOfWords } from '../../process/proc-file.ts';
import { type CgroupKind, cgroupOf } from '../../process/tree/own-cgroup.ts';
import { members } from '../../process/usage/members.ts';
import { memoryCounter } from '../../process/usage/memory-counter.ts';

export interface Counters {
  /** Since it was started; null: it is gone. */
  cpuMs(): number | null;
  memoryBytes(): number | null;
  tasks(): number | null;
  processes(): number;
}

const US_PER_MS = 1e3;
const NS_PER_MS = 1e6;

/** Null: the Engine has to be asked. */
export function countersOf(id: string, pid: number): Counters | null {
  const own = (kind: CgroupKind) => cut(cgroupOf(pid, kind), id);
  const unified = own(2);
  const memory = [unified, own('memory')].find((path) => path !== null && memoryCounter(path) !== null) ?? null;
  const accounts = own('cpuacct');
  const tasks = own('pids') ?? unified;
  if (memory === null || tasks === null) return null;
  const cpuMs = accounts === null ? (unified === null ? null : ofUnified(unified)) : ofAccounts(accounts);
  if (cpuMs === null || cpuMs() === null) return null;
  return {
    cpuMs,
    memoryBytes: memoryCounter(memory)!,
    tasks: () => readNumber(`${tasks}/pids.current`),
    processes: () => members(tasks).length,
  };
}

const ofUnified = (path: string) => (): number | null => {
  const us = sumOfWords(`${path}/cpu.stat`, ['usage_usec']);
  return us === null ? null : us / US_PER_MS;
};

const ofAccounts = (path: string) => (): number | null => {
  const ns = readNumber(`${path}/cpuacct.usage`);
  return ns === null ? null : ns / NS_PER_MS;
};

/** The cgroup of the whole container; that of its main process may be one inside. */
function cut(path: string | null, id: string): string | null {
  const parts = path?.split('/') ?? [];
  const at = parts.findIndex((part) => part.includes(id));
  return at < 0 ? null : parts.slice(0, at + 1).join('/');
}
