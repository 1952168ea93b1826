/** Lets only so many in at once, in the order in which they came: a machine asked two hundred things at once answers none in time. */

import { createSemaphore } from '../base/semaphore.ts';

export interface Gate {
  /** Rejects with the signal's reason when it aborts before the turn has come. */
  pass<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createGate(max: number): Gate {
  const semaphore = createSemaphore(max);
  return {
    async pass(work, signal) {
      const giveBack = await semaphore.take(signal);
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
  };
}
