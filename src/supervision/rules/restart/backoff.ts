import type { BackoffSpec } from '../../spec.ts';

/**
 * How long to wait before restart number `attempt` (0 = the first). `random` is a number in [0, 1) handed in by the caller, so
 * the result is a function of its arguments. Jitter only shortens: the maximum stays a maximum.
 */
export function delayMs(backoff: BackoffSpec, attempt: number, random: number): number {
  const plain = Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** Math.min(attempt, 1_000));
  return Math.round(plain * (1 - backoff.jitterRatio * random));
}
