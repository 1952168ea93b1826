/** Whether trackers may be told something now. What people ask for, and a problem that became critical, is always told. */
import type { WallMs } from '../../../base/pure/ids.ts';
import type { RateLimit } from './settings.ts';
import type { Ticket, Told } from './ticket.ts';

/** More is never needed to count within the limit. */
export const MAX_TOLD = 50;
/** Who joins within this time is told of in one note. */
export const NEWS_AFTER_MS = 60_000;

type Asked = Pick<Ticket, 'number' | 'errorType' | 'told'>;

/** A clock that was set back must not keep us silent for longer than the limit. */
const isWithin = ({ at }: Told, ms: number, now: WallMs): boolean => Math.abs(now - at) < ms;

const timesTold = ({ told }: Pick<Ticket, 'told'>, what: Told['what'], perMs: number, now: WallMs): number =>
  told.filter((one) => one.what === what && isWithin(one, perMs, now)).length;

/** Those that count together with this one. What has no type of error has none in common with others. */
const ofType = ({ by }: RateLimit, { number, errorType }: Asked, others: () => readonly Ticket[]): readonly Ticket[] =>
  by === 'type' && errorType !== null
    ? others().filter((one) => one.number !== number && one.errorType === errorType)
    : [];

/** `others`: tickets that may have been told about lately; asked for only when they count. */
export function mayTell(limit: RateLimit, ticket: Asked, others: () => readonly Ticket[], now: WallMs): boolean {
  const { perMs, max } = limit;
  const all = [ticket, ...ofType(limit, ticket, others)];
  return all.reduce((sum, one) => sum + timesTold(one, 'crash', perMs, now), 0) < max;
}

/** The ticket with the same type of error that was told of last within the limit, and is open: what may have none of its own joins it. */
export function toldOfType(
  limit: RateLimit,
  ticket: Asked,
  others: () => readonly Ticket[],
  now: WallMs,
): Ticket | null {
  const open = ofType(limit, ticket, others).filter(
    (one) => one.state === 'open' && timesTold(one, 'crash', limit.perMs, now) > 0,
  );
  const lastAt = ({ told }: Ticket) => told.findLast(({ what }) => what === 'crash')?.at ?? 0;
  return open.reduce<Ticket | null>((last, one) => (last === null || lastAt(one) > lastAt(last) ? one : last), null);
}

/** Notes about who joined have a limit of their own, and come after a pause in which others may join as well. */
export function mayTellNews({ perMs, max }: RateLimit, ticket: Pick<Ticket, 'told'>, now: WallMs): boolean {
  const isFresh = ticket.told.some((one) => one.what !== 'recovery' && isWithin(one, NEWS_AFTER_MS, now));
  return !isFresh && timesTold(ticket, 'news', perMs, now) < max;
}

export const withTold = (told: readonly Told[], at: WallMs, what: Told['what']): readonly Told[] =>
  [...told, { at, what }].slice(-MAX_TOLD);
