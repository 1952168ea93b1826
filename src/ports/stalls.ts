import type { MonoMs } from '../core/ids.ts';

/** Knows when this process itself was not awake: a busy event loop, a SIGSTOP, a suspended machine, a jump of the wall clock. */
export interface Stalls {
  /** Keeps watch until disposed; costs a few wake-ups a second, so only while somebody needs it. */
  watch(): Disposable;
  /** The longest such stretch, in milliseconds, that touches the time since `from`. */
  longestSince(from: MonoMs): number;
}
