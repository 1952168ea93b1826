/** Asks the Engine until it answers: while it is away nothing is concluded, and nothing is given up. */

import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import type { Unreachable } from '../../docker/ports.ts';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 2_000;

export interface Patience {
  readonly clock: Clock;
  /** Ends the waiting; then the question rejects. */
  readonly signal: AbortSignal;
  /** Why it cannot be asked; null: it can again. Told at each change. */
  blind(why: string | null): void;
}

export async function patiently<T extends { readonly kind: string }>(
  { clock, signal, blind }: Patience,
  ask: (signal: AbortSignal) => Promise<T | Unreachable>,
): Promise<Exclude<T, Unreachable>> {
  let isBlind = false;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    const answer = await ask(signal);
    signal.throwIfAborted();
    if (answer.kind !== 'unreachable') {
      if (isBlind) blind(null);
      return answer as Exclude<T, Unreachable>;
    }
    if (!isBlind) blind((answer as Unreachable).why);
    isBlind = true;
    await clock.sleepUntil(after(clock.now(), pauseMs), signal);
  }
}
