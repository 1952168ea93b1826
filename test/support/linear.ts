/** Whether a piece of work is in proportion to what it works on: measured in processor time, by comparing the cost of n and of 4n. */
import { cpuTimeMs } from './cpu-time.ts';

/** Up to here nothing can be told from the noise of the collector and the compiler. */
const NOISE_MS = 150;
/** Proportional work costs four times as much, quadratic work sixteen times. */
const MAX_GROWTH = 9;
const MEASUREMENTS = 4;

/** Each work with text of n characters, for n four times as large each time. What is out of proportion, in words; null: nothing is. */
export function outOfProportion(work: (characters: number) => () => unknown, from: number, to: number): string | null {
  let before = NOISE_MS / MAX_GROWTH;
  for (let characters = from; characters <= to; characters *= 4) {
    const run = work(characters);
    const limit = Math.max(NOISE_MS, MAX_GROWTH * before);
    let cost = timed(run);
    // Without the compiler's and the collector's part, which may come at any time: what the work itself costs, it costs each time.
    for (let more = 0; cost > limit && more < MEASUREMENTS; more += 1) cost = Math.min(cost, timed(run));
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
