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
