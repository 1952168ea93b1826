/** Waiting that others can cut short. */
import { after } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';

export interface Alarm {
  /** Resolves after that time, or at once when it was rung since the last wait ended. Rejects when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  ring(): void;
}

export function createAlarm(clock: Clock): Alarm {
  let isRung = false;
  let cutShort: AbortController | null = null;
  return {
    wait: async (ms, signal) => {
      signal.throwIfAborted();
      if (!isRung) {
        cutShort = new AbortController();
        const until = AbortSignal.any([signal, cutShort.signal]);
        await clock.sleepUntil(after(clock.now(), ms), until).catch(() => {});
        cutShort = null;
      }
      isRung = false;
      signal.throwIfAborted();
    },
    ring: () => {
      isRung = true;
      cutShort?.abort();
    },
  };
}
