/** One problem that people should look at, as it is written down: what it says, and how far each tracker knows about it. */
import type { WallMs } from '../../../base/pure/ids.ts';
import type { Subject } from '../../../supervision/rules/views.ts';

export type Priority = 'low' | 'medium' | 'high' | 'critical';
export type TicketCategory = 'crash' | 'freeze' | 'cleanup';

/**
 * What a tracker is asked for. comment: it happened again. recovered: all is well again. update: the record changed; only trackers
 * that keep a copy of it care.
 */
export type TrackerAction = 'create' | 'comment' | 'recovered' | 'reopen' | 'close' | 'update';

/** One thing that is still to be done in a tracker. It is written down before the tracker is called. */
export interface PendingUpdate {
  /** Stored, and told in events, by this name: the action. */
  readonly deed: TrackerAction;
  /** A tracker that was asked twice recognises the second time by it. */
  readonly key: string;
  /** What there is to say, in plain text; empty for `create` and `update`: they say all there is. */
  readonly text: string;
  /** Who else it happens to, and was not named yet: "task T-4", "billing (given up)". Absent: nobody. */
  readonly also?: readonly string[];
  /** Several lines that belong to it: what a frozen process was doing. Absent: none. */
  readonly details?: string;
  /** Somebody asked for it. Absent: nobody did. */
  readonly byHand?: true;
  readonly at: WallMs;
}

/** How far one tracker knows about one ticket. */
export interface TrackerState {
  /** Which repository, address or directory it was written to: a tracker of the same name that leads elsewhere begins anew. */
  readonly target: string;
  /** The pending updates, stored by this name, in this order; empty: it knows everything. */
  readonly errands: readonly PendingUpdate[];
  /** Failed tries of the first update. */
  readonly attempts: number;
  /** Not before this time; null: as soon as possible. */
  readonly nextAt: WallMs | null;
  /** What the tracker calls it: the number of an issue, the name of a file; null: it does not know it yet. */
  readonly id: string | null;
  /** Where people find it. */
  readonly address: string | null;
  /** Why the last try failed; null: it did not. */
  readonly error: string | null;
  /** It is not tried again until somebody changes something; `error` says what. */
  readonly stopped: boolean;
}

/** A step is made of our own words and of what is typed or was printed, in turn. */
export type Step = readonly StepPart[];
export type StepPart = { readonly say: string } | { readonly code: string };

/** A time at which trackers were told something, and what. */
export interface Told {
  readonly at: WallMs;
  /** news: it happens to others, too. */
  readonly what: 'crash' | 'recovery' | 'news';
}

export interface Ticket {
  /** Shown as BUG-003. Never given to another one. */
  readonly number: number;
  /** Random: trackers recognise by it what they have made already. */
  readonly key: string;
  readonly incident: number;
  readonly subject: Subject;
  readonly state: 'open' | 'closed';
  readonly title: string;
  readonly description: string;
  readonly priority: Priority;
  readonly category: TicketCategory;
  readonly reproductionSteps: readonly string[];
  /** The same, with commands told from sentences. Absent: written by an older version. */
  readonly steps?: readonly Step[];
  readonly rootCause: string | null;
  readonly relatedFiles: readonly string[];
  readonly errorLogs: string;
  readonly errorType: string | null;
  readonly assignedTo: string | null;
  /** Crashes with this cause, those before the ticket included. */
  readonly count: number;
  readonly firstSeen: WallMs;
  readonly lastSeen: WallMs;
  readonly fingerprint: string;
  /** All that crashed with this cause, in the order they came. */
  readonly subjects: readonly Subject[];
  /** Tasks of the agents among them. */
  readonly tasks: readonly string[];
  /** Components that depend on them, and went down or cannot start because of it. */
  readonly affected: readonly string[];
  /** Who joined, or was given up, since trackers were told last: "task T-4", "billing (given up)". */
  readonly news: readonly string[];
  /** What its process was doing is part of it. Absent: not yet, or nobody had to look. */
  readonly examined?: true;
  readonly closedAt: WallMs | null;
  /** The last few, oldest first: for the rate limit. */
  readonly told: readonly Told[];
  readonly trackers: Readonly<Record<string, TrackerState>>;
}

export type TicketEventType =
  | 'ticket.opened'
  | 'ticket.commented'
  | 'ticket.reopened'
  | 'ticket.closed'
  | 'ticket.delivered'
  | 'ticket.delivery-failed';

export interface TicketEvent {
  readonly type: TicketEventType;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A ticket as it is to be written, and what there is to tell about the change. */
export interface TicketChange {
  readonly ticket: Ticket;
  readonly told: readonly TicketEvent[];
}

export interface TicketsQuery {
  readonly state?: Ticket['state'] | undefined;
  /** Newest first. */
  readonly limit: number;
}

/** As it was written before a ticket could be about several. */
type Written = Omit<Ticket, 'subjects' | 'tasks' | 'affected' | 'news'> &
  Partial<Pick<Ticket, 'subjects' | 'tasks' | 'affected' | 'news'>> & { readonly taskId?: string | null };

export function ticketFromRecord({ taskId = null, ...written }: Written): Ticket {
  const { subjects = [written.subject], tasks = taskId === null ? [] : [taskId], affected = [], news = [] } = written;
  return { ...written, subjects, tasks, affected, news };
}

/** Something is still to be done in a tracker. */
export const hasPendingUpdates = ({ trackers }: Ticket): boolean =>
  Object.values(trackers).some(({ errands }) => errands.length > 0);
