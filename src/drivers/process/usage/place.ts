/** Where to look for a run: its directory says who the main process is and which cgroup it was given, also to a later daemon. */
import { basename, join } from 'node:path';
import type { RunId } from '../../../base/pure/ids.ts';
import type { Identity } from '../proc.ts';
import { readMeta, readStarted } from '../run-dir.ts';
import { isRunCgroup } from '../tree/cgroup.ts';
import { cgroupOf } from '../tree/own-cgroup.ts';
import { type MemoryCounter, memoryCounter } from './memory-counter.ts';

export interface Place {
  readonly main: Identity;
  /** Where the kernel lists its processes; null: they are searched for. */
  readonly cgroup: string | null;
  /** Null: the memory of each process is read. */
  readonly memory: MemoryCounter | null;
}

/** Null while its main process is not known. */
export function findPlace(runsDir: string, run: RunId): Place | null {
  const dir = join(runsDir, run);
  const started = readStarted(dir);
  if (started === null) return null;
  const given = started.inCgroup ? readMeta(dir)?.cgroup : null;
  const own = given && isRunCgroup(given, run) ? given : null;
  const counting = countingCgroup(started.pid, run);
  const counters = [own, counting].map((path) => (path === null ? null : memoryCounter(path)));
  const memory = counters.find((counter) => counter !== null) ?? null;
  return { main: started, cgroup: own ?? counting, memory };
}

/** With cgroup v1 the memory of a run may be counted in a cgroup of its own beside the one that lists it. */
function countingCgroup(pid: number, run: RunId): string | null {
  const path = cgroupOf(pid, 'memory');
  return path !== null && basename(path) === run ? path : null;
}
