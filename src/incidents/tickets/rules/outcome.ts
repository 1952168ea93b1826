/** What is written down after a tracker was asked. */
import type { WallMs } from '../../../base/pure/ids.ts';
import { bugNumber } from './number.ts';
import type { PendingUpdate, Ticket, TicketChange, TicketEvent, TrackerStanding } from './ticket.ts';

/** So many tries of one thing, the pauses between them included, take half a day. */
export const MAX_ATTEMPTS = 60;

export interface Tried {
  readonly tracker: string;
  readonly update: PendingUpdate;
}

export interface Success {
  readonly id: string | null;
  readonly address: string | null;
  readonly note?: string | undefined;
}

export interface Failure {
  readonly message: string;
  /** Null: it is not tried again by itself. */
  readonly nextAt: WallMs | null;
}

export function afterSuccess(ticket: Ticket, { tracker, update }: Tried, { id, address, note }: Success): TicketChange {
  const isNew = update.deed === 'create';
  const data = { ticket: bugNumber(ticket.number), tracker, deed: update.deed, address };
  const told: TicketEvent[] =
    isNew || note !== undefined
      ? [{ type: 'ticket.delivered', data: note === undefined ? data : { ...data, note } }]
      : [];
  const changed = withStanding(ticket, tracker, (standing) => ({
    ...standing,
    errands: standing.errands.filter(({ key }) => key !== update.key),
    attempts: 0,
    nextAt: null,
    id,
    address,
    error: null,
    stopped: false,
  }));
  return { ticket: changed, told };
}

/** Told at the first failure and when it is not tried any more, not in between. */
export function afterFailure(ticket: Ticket, { tracker, update }: Tried, { message, nextAt }: Failure): TicketChange {
  const before = ticket.trackers[tracker];
  const attempts = (before?.attempts ?? 0) + 1;
  const stopped = nextAt === null || attempts >= MAX_ATTEMPTS;
  const changed = withStanding(ticket, tracker, (standing) => ({
    ...standing,
    attempts,
    nextAt: stopped ? null : nextAt,
    error: message,
    stopped,
  }));
  const data = { ticket: bugNumber(ticket.number), tracker, deed: update.deed };
  const isNews = attempts === 1 || (stopped && before?.stopped !== true);
  const told: readonly TicketEvent[] = isNews
    ? [{ type: 'ticket.delivery-failed', data: { ...data, error: message, attempts, stopped } }]
    : [];
  return { ticket: changed, told };
}

/** Nothing is left to do for a tracker that does not want to be told of it. */
export const withoutPendingUpdate = (ticket: Ticket, { tracker, update }: Tried): Ticket =>
  withStanding(ticket, tracker, (standing) => ({
    ...standing,
    errands: standing.errands.filter(({ key }) => key !== update.key),
  }));

function withStanding(ticket: Ticket, tracker: string, change: (standing: TrackerStanding) => TrackerStanding): Ticket {
  const standing = ticket.trackers[tracker];
  return standing === undefined ? ticket : { ...ticket, trackers: { ...ticket.trackers, [tracker]: change(standing) } };
}
