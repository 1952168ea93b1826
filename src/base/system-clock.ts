/** The real clock. On Linux `process.hrtime` is CLOCK_MONOTONIC, which counts from boot, so its values outlive the daemon. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BootId, MonoMs, WallMs } from './pure/ids.ts';
import type { Clock } from './clock.ts';

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
