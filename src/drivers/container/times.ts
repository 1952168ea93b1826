/** The Engine writes wall time as text; everything that is counted is counted on our own clock. */
import type { MonoMs } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';

/** When that was on our clock: never in the future, and now when it cannot be told. */
export function monoOf(text: string | null, clock: Clock): MonoMs {
  const now = clock.now();
  const agoMs = clock.wallNow() - Date.parse(text ?? '');
  return (Number.isNaN(agoMs) ? now : now - Math.max(0, agoMs)) as MonoMs;
}
