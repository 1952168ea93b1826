/** What a run uses: one look at its whole tree, and what two looks say together. */

import { formatBytes, formatBytesFinely } from '../../../base/pure/format.ts';
import type { MonoMs, WallMs } from '../../../base/pure/ids.ts';

/** All processes of a run together. */
export interface Usage {
  /** CPU time used since the run began. It may be a little less than before when processes ended that nobody waited for. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Null: we may not look. */
  readonly fds: number | null;
  readonly threads: number;
  readonly processes: number;
}

/** A look, with when it was taken. */
export interface UsageReading {
  readonly usage: Usage;
  readonly at: MonoMs;
  readonly wall: WallMs;
}

export interface Sample extends Omit<Usage, 'cpuMs'> {
  /** 100 is one core, since the sample before; null: there is none to compare with, or we were not awake in between. */
  readonly cpuPercent: number | null;
  readonly at: WallMs;
}

/** Wall and monotonic time go apart by this much only when one of them jumped or the machine was suspended. */
const JUMP_MS = 1_000;
/** An interval this much longer than planned was not ours to choose: we were stopped, or starved. */
const LATE_RATIO = 1.5;
const LATE_MS = 1_000;

/** `plannedMs`: how long after the reading before this one was to be taken. */
export function sampleOf(before: UsageReading | null, after: UsageReading, plannedMs: number): Sample {
  const { memoryBytes, fds, threads, processes } = after.usage;
  const percent = before && cpuPercent(before, after, plannedMs);
  return { cpuPercent: percent, memoryBytes, fds, threads, processes, at: after.wall };
}

function cpuPercent(before: UsageReading, after: UsageReading, plannedMs: number): number | null {
  const passedMs = after.at - before.at;
  const jumpedMs = Math.abs(after.wall - before.wall - passedMs);
  const isVoid = passedMs <= 0 || jumpedMs > JUMP_MS || passedMs > plannedMs * LATE_RATIO + LATE_MS;
  return isVoid ? null : (100 * Math.max(0, after.usage.cpuMs - before.usage.cpuMs)) / passedMs;
}

// When a run uses too much memory for too long to be left alone, and the words for it.

/** Samples in a row above `soft_memory`: one alone may be a peak that is over already. */
export const SOFT_MEMORY_SAMPLES = 3;

/** How many samples in a row were above the limit, with this one. */
export const samplesAbove = (before: number, usedBytes: number, limitBytes: number | null): number =>
  limitBytes !== null && usedBytes > limitBytes ? before + 1 : 0;

/** "soft_memory: 412 MiB, more than 400 MiB in 3 samples" */
export function softMemoryReason(usedBytes: number, limitBytes: number, samples: number): string {
  const format = formatBytes(usedBytes) === formatBytes(limitBytes) ? formatBytesFinely : formatBytes;
  return `soft_memory: ${format(usedBytes)}, more than ${format(limitBytes)} in ${samples} samples`;
}
