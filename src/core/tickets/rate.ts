/** Whether trackers may be told something now. What people ask for, and a problem that became critical, is always told. */
import type { WallMs } from '../ids.ts';
import type { RateLimit } from './settings.ts';
import type { Ticket, Told } from './ticket.ts';

/** More is never needed to count within the limit. */
export const MAX_TOLD = 50;

/** `others`: tickets that may have been told about lately; asked for only when they count. */
export function mayTell(
  { perMs, max, by }: RateLimit,
  ticket: Pick<Ticket, 'number' | 'errorType' | 'told'>,
  others: () => readonly Ticket[],
  now: WallMs,
): boolean {
  // A clock that was set back must not keep us silent for longer than the limit.
  const recent = (told: readonly Told[]) =>
    told.filter(({ at, what }) => what === 'crash' && Math.abs(now - at) < perMs).length;
  const sameType = (one: Ticket) => one.number !== ticket.number && one.errorType === ticket.errorType;
  const elsewhere = by === 'type' ? others().filter(sameType) : [];
  return elsewhere.reduce((sum, one) => sum + recent(one.told), recent(ticket.told)) < max;
}

export const withTold = (told: readonly Told[], at: WallMs, what: Told['what']): readonly Told[] =>
  [...told, { at, what }].slice(-MAX_TOLD);
