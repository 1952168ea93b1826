/**
 * Repeats work that needs no exact moment. Whatever has the same period is done in the same moment, and a longer period at every so
 * many moments of a shorter one: a daemon with nothing to do wakes up once for all of it.
 */
import { systemClock } from './clock.ts';
import { alignedAfter } from './pure/ids.ts';

/** Does not keep the process alive. */
export function everyAligned(ms: number, work: () => void): Disposable {
  let timer: NodeJS.Timeout;
  const arm = () => {
    const now = systemClock.now();
    timer = setTimeout(() => {
      arm();
      work();
    }, alignedAfter(now, ms) - now).unref();
  };
  arm();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
