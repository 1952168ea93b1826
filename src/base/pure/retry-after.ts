/** How long a server wants to be left alone, counted by its own clock: ours may be wrong. */
import type { WallMs } from './ids.ts';

/** What of an answer tells. */
export interface RetryAnswer {
  /** The name in lower case; one of several with the same name. */
  readonly header: (name: string) => string | null;
  /** When it came, by our clock. */
  readonly at: WallMs;
}

/** Nobody makes us wait for longer than this. */
const MAX_PAUSE_MS = 2 * 3_600_000;
const MIN_PAUSE_MS = 1_000;

/** From `Retry-After`, which is in seconds or a date; null: it does not say. */
export function retryAfterMs(answer: RetryAnswer): number | null {
  const value = answer.header('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return bounded(Number(value) * 1_000);
  const until = Date.parse(value);
  return Number.isNaN(until) ? null : untilMs(answer, until);
}

/** From the moment of the answer to `epochMs`, a time of the server's. */
export function untilMs({ header, at }: RetryAnswer, epochMs: number): number {
  const answered = Date.parse(header('date') ?? '');
  return bounded(epochMs - (Number.isNaN(answered) ? at : answered));
}

const bounded = (ms: number): number => Math.min(Math.max(MIN_PAUSE_MS, ms), MAX_PAUSE_MS);
