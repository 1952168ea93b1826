/** A bound on how long something may take: `using time = timeLimit(…)`. Disposed, no timer is left of it. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { after } from '../base/pure/ids.ts';

export interface TimeLimit extends Disposable {
  /** Aborts when the time is over, and when it is called off from outside. */
  readonly signal: AbortSignal;
  /** The time is over. */
  readonly isOver: boolean;
}

export function timeLimit(clock: Clock, limitMs: number, outer: AbortSignal): TimeLimit {
  const over = new AbortController();
  const done = new AbortController();
  const callOff = () => over.abort(outer.reason);
  let isOver = false;
  // Many may be called off by one and the same: that is no leak, and Node would warn of one.
  setMaxListeners(0, outer);
  outer.addEventListener('abort', callOff, { once: true });
  if (outer.aborted) callOff();
  clock.sleepUntil(after(clock.now(), limitMs), done.signal).then(
    () => {
      isOver = true;
      over.abort();
    },
    () => {}, // done in time
  );
  return {
    signal: over.signal,
    get isOver() {
      return isOver;
    },
    [Symbol.dispose]: () => {
      outer.removeEventListener('abort', callOff);
      done.abort();
    },
  };
}
