/**
 * Reading logs is work for the event loop, and a search may go through gigabytes. It is done in slices: after each, everything else has
 * its turn, and of all who read only one has a slice in a turn. So however many search, nobody waits longer than a slice for the loop.
 */
import type { Matcher } from './match.ts';

const SLICE_MS = 8;
/** Lines compared without looking at the clock: more and more of them while that is quick. */
const MIN_LOT = 10;
const FIRST_LOT = 100;
const MAX_LOT = 5_000;

let sliceBegan = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/** To be awaited between two small pieces of work. */
export function breathe(): Promise<void> {
  if (performance.now() - sliceBegan < SLICE_MS) return Promise.resolve();
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(nextSlice);
  });
}

function nextSlice(): void {
  sliceBegan = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(nextSlice);
}

/** Which of the lines fit. Throws PATTERN_TOO_SLOW. */
export async function matchInSlices(matcher: Matcher, lines: readonly string[]): Promise<readonly boolean[]> {
  const answers: boolean[] = [];
  for (let at = 0, lot = FIRST_LOT; at < lines.length; ) {
    await breathe();
    const began = performance.now();
    for (const answer of matcher(lines.slice(at, at + lot))) answers.push(answer);
    at += lot;
    const isQuick = performance.now() - began < SLICE_MS / 4;
    lot = isQuick ? Math.min(MAX_LOT, lot * 2) : Math.max(MIN_LOT, Math.ceil(lot / 2));
  }
  return answers;
}
