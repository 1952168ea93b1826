/** The hours in which people are not to be told, except of what cannot wait. Pure. */
import type { WallMs } from '../../../base/pure/ids.ts';
import { type DayTime, lastAt, nextAt } from '../../../base/pure/wall-time.ts';
import type { AlertKind } from './book.ts';

export interface QuietHours {
  readonly from: DayTime;
  readonly to: DayTime;
  /** What is told all the same. */
  readonly except: readonly AlertKind[];
}

/** When they end; null: these are none. */
export function quietUntil(hours: QuietHours | null, now: WallMs): WallMs | null {
  if (hours === null || lastAt(hours.from, now) <= lastAt(hours.to, now)) return null;
  return nextAt(hours.to, now);
}

/** For so long nothing of this kind is told. */
export function quietMs(hours: QuietHours | null, kind: AlertKind, now: WallMs): number {
  if (hours === null || hours.except.includes(kind)) return 0;
  const until = quietUntil(hours, now);
  return until === null ? 0 : until - now;
}
