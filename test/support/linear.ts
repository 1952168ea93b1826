/** Whether a piece of work is in proportion to what it works on: measured in processor time, by comparing the cost of n and of 4n. */
import { cpuTimeMs } from './cpu-time.ts';

/** Up to here nothing can be told from the noise of the collector and the compiler. */
const NOISE_MS = 60;
/** Proportional work costs four times as much, quadratic work sixteen times. */
const MAX_GROWTH = 9;

/** Each work with text of n characters, for n four times as large each time. What is out of proportion, in words; null: nothing is. */
export function outOfProportion(work: (characters: number) => () => unknown, from: number, to: number): string | null {
  let before = NOISE_MS / MAX_GROWTH;
  for (let characters = from; characters <= to; characters *= 4) {
    const run = work(characters);
    const limit = Math.max(NOISE_MS, MAX_GROWTH * before);
    const first = timed(run);
    // Once more without the compiler's part.
    const cost = first > limit ? Math.min(first, timed(run)) : first;
    if (cost > limit) {
      return `${characters} characters cost ${Math.round(cost)} ms, a quarter of them ${Math.round(before)} ms`;
    }
    before = Math.max(cost, NOISE_MS / MAX_GROWTH);
  }
  return null;
}

function timed(run: () => unknown): number {
  const from = cpuTimeMs();
  run();
  return cpuTimeMs() - from;
}
