/** What makes two stretches of samples the same one, and their order. */
import type { SampleStretch } from './stretch.ts';

/** A stretch that goes on keeps its key, and is written over itself. */
export const sampleKey = ({ run, firstAt }: SampleStretch): string => `${run} ${firstAt}`;

/** By the key alone, so that a stretch that goes on stays in its place. */
export function newestSampleFirst(a: SampleStretch, b: SampleStretch): number {
  if (a.firstAt !== b.firstAt) return b.firstAt - a.firstAt;
  return a.run === b.run ? 0 : a.run < b.run ? 1 : -1;
}

/** Newest first, where `newer` is what is known better than `older` knows it. */
export function samplesLaidOver(
  newer: readonly SampleStretch[],
  older: readonly SampleStretch[],
  limit: number,
): readonly SampleStretch[] {
  const known = new Set(newer.map(sampleKey));
  const rest = older.filter((stretch) => !known.has(sampleKey(stretch)));
  return [...newer, ...rest].sort(newestSampleFirst).slice(0, limit);
}
