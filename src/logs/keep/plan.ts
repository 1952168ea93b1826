/** Decides how much of a log goes and what of it is kept. Pure: sizes in, offsets out. */
import type { LogKeeping } from '../../supervision/spec.ts';

export type Why = 'size' | 'flood' | 'space' | 'total';

/** What is before `from` is dropped; what is between `from` and `to` becomes a part. */
export interface Shortening {
  readonly from: number;
  readonly to: number;
  readonly why: Why;
}

export interface Measured {
  readonly sizeBytes: number;
  /** In bytes a second. */
  readonly rate: number;
}

/** So much always stays in NAME.log itself where its head can be cut off: whoever explains a crash looks at its end first. */
export const TAIL_BYTES = 64 * 1024;

/** A log that is twice too long and grows by more than this and its own bound in a second cannot be copied any more. */
const FLOOD_BYTES_PER_S = 32 * 1024 * 1024;
/** What is kept of a flood: the newest of it. */
const FLOOD_KEPT_BYTES = 8 * 1024 * 1024;

/** Little is not worth the trouble, and may be less than a block. */
const MIN_DROP_BYTES = 64 * 1024;

/** Null: it is short enough. */
export function planRotation({ sizeBytes, rate }: Measured, { maxBytes, keep }: LogKeeping): Shortening | null {
  if (sizeBytes <= maxBytes) return null;
  const isFlood = sizeBytes > 2 * maxBytes && rate > Math.max(maxBytes, FLOOD_BYTES_PER_S);
  if (isFlood) return drop(sizeBytes - Math.min(maxBytes / 2, FLOOD_KEPT_BYTES), 'flood');
  if (keep === 0) return drop(sizeBytes - maxBytes / 2, 'size');
  const excess = sizeBytes - (keep + 1) * maxBytes;
  if (excess > MIN_DROP_BYTES) return drop(excess, 'size');
  return { from: 0, to: Math.min(maxBytes, sizeBytes - Math.min(TAIL_BYTES, maxBytes / 4)), why: 'size' };
}

/** Frees `bytes` and a little more; never the newest of it. Null: it is too short for that. */
export function planDrop(sizeBytes: number, bytes: number, why: Why): Shortening | null {
  const to = Math.min(Math.ceil(bytes / MIN_DROP_BYTES) * MIN_DROP_BYTES, sizeBytes - TAIL_BYTES);
  return to > 0 ? drop(to, why) : null;
}

const drop = (to: number, why: Why): Shortening => ({ from: Math.floor(to), to: Math.floor(to), why });

export interface Sized {
  readonly bytes: number;
  readonly atMs: number;
}

/** The oldest ones that together have so many bytes. */
export function oldestWorth<T extends Sized>(parts: readonly T[], bytes: number): readonly T[] {
  let left = bytes;
  return [...parts]
    .sort((a, b) => a.atMs - b.atMs)
    .filter((part) => {
      if (left <= 0) return false;
      left -= part.bytes;
      return true;
    });
}
