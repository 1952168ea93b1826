/** Messages on their way to one channel: in order, tried again with growing pauses, given up after the last. Pure. */

import { elapsedMs, type Moment } from './book.ts';
import type { AlertMessage } from './message.ts';

export interface PendingMessage {
  readonly message: AlertMessage;
  /** Failed tries. */
  readonly attempts: number;
  readonly lastAt: Moment | null;
  /** The channel asked for this pause. */
  readonly pauseMs?: number;
}

/** By channel. */
export type Queues = Readonly<Record<string, readonly PendingMessage[]>>;

const PAUSES_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000];
export const MAX_ATTEMPTS = PAUSES_MS.length + 1;
export const MAX_PAUSE_MS = 3_600_000;
/** More would be old news when the channel is back: the oldest go. */
const MAX_QUEUED = 20;

export const queued = (queue: readonly PendingMessage[] = [], message: AlertMessage): readonly PendingMessage[] =>
  [...queue, { message, attempts: 0, lastAt: null }].slice(-MAX_QUEUED);

export function untilNextMs({ attempts, lastAt, pauseMs }: PendingMessage, now: Moment): number {
  if (attempts === 0 || lastAt === null) return 0;
  const pause = Math.max(PAUSES_MS[attempts - 1] ?? 0, Math.min(pauseMs ?? 0, MAX_PAUSE_MS));
  return Math.max(0, pause - elapsedMs(lastAt, now));
}

/** Null: it was the last try. */
export function failed(pending: PendingMessage, now: Moment, pauseMs: number | null): PendingMessage | null {
  const attempts = pending.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return null;
  return { message: pending.message, attempts, lastAt: now, ...(pauseMs === null ? {} : { pauseMs }) };
}
