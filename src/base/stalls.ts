import type { MonoMs } from './pure/ids.ts';

/** Knows when this process itself was not awake: a busy event loop, a SIGSTOP, a suspended machine, a jump of the wall clock. */
export interface Stalls {
  /** The longest such stretch, in milliseconds, that touches the time since `from`. */
  longestSince(from: MonoMs): number;
}
