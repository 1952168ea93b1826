/** Watches our own event loop: a daemon that stalls must not blame its components. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Measured: looking every 20 ms costs a daemon with 500 idle components as much as everything else it does. */
const RESOLUTION_MS = 100;
const FORGET_AFTER_MS = 60_000;

export interface LoopWatch extends Disposable {
  /** The longest stall of the last one or two minutes. */
  longestStallMs(): number;
}

export function watchLoop(): LoopWatch {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let before = 0;
  const stall = () => Math.max(0, histogram.max / 1e6 - RESOLUTION_MS);
  const timer = setInterval(() => {
    before = stall();
    histogram.reset();
  }, FORGET_AFTER_MS);
  timer.unref();
  return {
    longestStallMs: () => Math.round(Math.max(before, stall())),
    [Symbol.dispose]: () => {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
