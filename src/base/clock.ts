import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BootId, MonoMs, WallMs } from './pure/ids.ts';

/** Time, handed in. Durations use `now`, records use `wallNow`, and the only way to wait can always be interrupted. */
export interface Clock {
  /** Wall time, for records and for people. It can jump. */
  wallNow(): WallMs;
  /** Milliseconds since boot, for every duration, deadline and delay. It never goes back, also not over a restart of the daemon. */
  now(): MonoMs;
  /** Which boot `now` counts from. */
  readonly bootId: BootId;
  /** Resolves at `at` or later, never earlier. Rejects as soon as `signal` aborts. */
  sleepUntil(at: MonoMs, signal: AbortSignal): Promise<void>;
}

// The real clock. On Linux `process.hrtime` is CLOCK_MONOTONIC, which counts from boot, so its values outlive the daemon.

/** A longer Node timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const NS_PER_MS = 1e6;

const monotonicMs = (): MonoMs => (Number(process.hrtime.bigint()) / NS_PER_MS) as MonoMs;

let bootId: BootId | undefined;

export const systemClock: Clock = {
  wallNow: () => Date.now() as WallMs,
  now: monotonicMs,
  get bootId() {
    bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() as BootId;
    return bootId;
  },
  async sleepUntil(at, signal) {
    signal.throwIfAborted();
    // A loop, because timers may fire a little early and long waits are cut at the timer limit.
    for (let left = at - monotonicMs(); left > 0; left = at - monotonicMs()) {
      await sleep(Math.min(Math.ceil(left), MAX_TIMER_MS), undefined, { signal });
    }
  },
};
