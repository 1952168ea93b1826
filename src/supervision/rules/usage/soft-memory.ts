/** When a run uses too much memory for too long to be left alone, and the words for it. */
import { formatBytes, formatBytesFinely } from '../../../base/pure/bytes.ts';

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
