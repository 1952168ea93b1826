/** What trackers are still to be told, and what is written down after one was asked. */
import type { WallMs } from '../../../base/pure/ids.ts';
import { bugNumber } from './number.ts';
import type { TicketSettings } from './settings.ts';
import type { PendingUpdate, Ticket, TicketChange, TicketEvent, TrackerAction, TrackerState } from './ticket.ts';

type Trackers = TicketSettings['trackers'];

/** What there is to do: which action, in which words. */
export type Told = Pick<PendingUpdate, 'deed' | 'text'> & Partial<Pick<PendingUpdate, 'also' | 'details' | 'byHand'>>;

// Things that say less than what comes after them are left out, so the list stays short.

/** The ticket with one more thing to do in each tracker. One that does not know the ticket yet is asked to create it instead. */
export function withPendingUpdate(ticket: Ticket, trackers: Trackers, told: Told, now: WallMs): Ticket {
  const { deed } = told;
  const key = `${ticket.key}-${deed}-${now.toString(36)}`;
  const states: Record<string, TrackerState> = { ...ticket.trackers };
  for (const { name, target } of trackers) {
    const tracker = states[name];
    const isKnown = tracker !== undefined && tracker.target === target;
    if (isKnown) states[name] = added(tracker, { ...told, key, at: now });
    else if (deed === 'create' || deed === 'comment' || deed === 'reopen') states[name] = begun(ticket, target, now);
  }
  return { ...ticket, trackers: states };
}

const begun = ({ key }: Ticket, target: string, at: WallMs): TrackerState => ({
  target,
  errands: [{ deed: 'create', key, text: '', at }],
  attempts: 0,
  nextAt: null,
  id: null,
  address: null,
  error: null,
  stopped: false,
});

function added(tracker: TrackerState, update: PendingUpdate): TrackerState {
  const [first, ...rest] = tracker.errands;
  // What says all there is says this too, as long as it was never sent.
  if (first?.deed === 'create' && tracker.attempts === 0 && SAID_BY_CREATE.includes(update.deed)) return tracker;
  // The first one may be on its way.
  const outdated = rest.filter((one) => isOutdated(one, update));
  const said = { ...update, ...leftToSay(outdated, update) };
  const errands = first === undefined ? [update] : [first, ...rest.filter((one) => !outdated.includes(one)), said];
  return { ...tracker, errands, attempts: tracker.stopped ? 0 : tracker.attempts, stopped: false };
}

/** Names and findings are said once only, so they pass on to what is said instead. */
function leftToSay(outdated: readonly PendingUpdate[], update: PendingUpdate): Pick<PendingUpdate, 'also' | 'details'> {
  const also = [...new Set([...outdated, update].flatMap((one) => one.also ?? []))];
  const details = update.details ?? outdated.findLast((one) => one.details !== undefined)?.details;
  return { ...(also.length > 0 ? { also } : {}), ...(details === undefined ? {} : { details }) };
}

const MAX_NAMED = 30;

/** All that an update has to say, in one line. */
export function wordsOf({ text, also = [] }: Pick<PendingUpdate, 'text' | 'also'>): string {
  if (also.length === 0) return text;
  const more = also.length > MAX_NAMED ? ` and ${also.length - MAX_NAMED} more` : '';
  return `${text}${text === '' ? '' : ' '}Also: ${also.slice(0, MAX_NAMED).join(', ')}${more}.`;
}

const SAID_BY_CREATE: readonly TrackerAction[] = ['comment', 'update'];

const OUTDATES: Readonly<Record<TrackerAction, readonly TrackerAction[]>> = {
  create: [],
  update: ['update'],
  comment: ['update', 'comment', 'recovered'],
  recovered: ['update', 'recovered'],
  reopen: ['update', 'comment', 'recovered', 'close', 'reopen'],
  close: ['update', 'comment', 'recovered', 'close', 'reopen'],
};

const isOutdated = (one: PendingUpdate, by: PendingUpdate): boolean => OUTDATES[by.deed].includes(one.deed);

// How a try ended.

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
  const changed = withTracker(ticket, tracker, (state) => ({
    ...state,
    errands: state.errands.filter(({ key }) => key !== update.key),
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
  const changed = withTracker(ticket, tracker, (state) => ({
    ...state,
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
  withTracker(ticket, tracker, (state) => ({
    ...state,
    errands: state.errands.filter(({ key }) => key !== update.key),
  }));

function withTracker(ticket: Ticket, tracker: string, change: (state: TrackerState) => TrackerState): Ticket {
  const state = ticket.trackers[tracker];
  return state === undefined ? ticket : { ...ticket, trackers: { ...ticket.trackers, [tracker]: change(state) } };
}
