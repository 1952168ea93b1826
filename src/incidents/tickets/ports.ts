/**
 * Tickets: what is filed, and how trackers get to know of it. Nothing here blocks supervision. When there is a ticket is decided by
 * `ticketFor` and `afterRecovery` (src/core/tickets), and committed with the crash; the desk is told afterwards (`filed`).
 */
import type { TicketsSpec } from './rules/settings.ts';
import type { Deed, Errand, Ticket, TicketEvent, TicketsQuery } from './rules/ticket.ts';

export type { TicketsQuery };

/** What must outlive the process about tickets. Nothing here throws: what cannot be written now is written later. */
export interface TicketBook {
  find(number: number): Ticket | null;
  /** Newest first. */
  list(query: TicketsQuery): readonly Ticket[];
  /** Those with something left to do in a tracker, oldest first. */
  pending(): readonly Ticket[];
  /** Written over the ticket with the same number, together with what there is to tell about it. */
  save(ticket: Ticket, told: readonly TicketEvent[]): void;
}

/** A tracker did what it was asked. */
export interface Delivered {
  /** What the tracker calls the ticket. */
  readonly id: string | null;
  readonly address: string | null;
  /** Something that people should know: "somebody edited BUG-003…md; their text was kept as …". */
  readonly note?: string;
}

/**
 * A tracker could not do what it was asked.
 * later: it cannot be reached, or asks for a pause: everything for this tracker waits, and is tried again a bounded number of times.
 * refused: it will never do this one thing. halt: it will do nothing until somebody changes something (a wrong token).
 * The message is for people, and names no secret.
 */
export interface DeliveryProblem {
  readonly kind: 'later' | 'refused' | 'halt';
  readonly message: string;
  /** The tracker itself asked for this pause. */
  readonly pauseMs?: number;
}

export type DeliveryResult =
  | { readonly kind: 'done'; readonly delivered: Delivered }
  | { readonly kind: 'failed'; readonly problem: DeliveryProblem };

/** One delivery: the ticket as it is now, and the one thing to do. It may have been done before we were killed: look first. */
export interface Delivery {
  readonly ticket: Ticket;
  readonly errand: Errand;
  /** What the tracker calls the ticket; null: it has not said yet. */
  readonly id: string | null;
  readonly address: string | null;
}

/** One place that tickets are written to. Never throws; gives up by itself after its time limit or when `signal` says so. */
export interface Tracker {
  readonly name: string;
  readonly target: string;
  /** What it wants to be told of; the rest is dropped. */
  readonly deeds: ReadonlySet<Deed>;
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult>;
}

export interface TicketDesk {
  /** They are safely written: tell the trackers. Returns at once and never throws. */
  filed(tickets: readonly Ticket[]): void;
  list(query: TicketsQuery): readonly Ticket[];
  /** Throws NO_SUCH_TICKET. */
  show(number: number): Ticket;
  /** Any number of times; throws NO_SUCH_TICKET. Trackers are told in the background. */
  close(number: number): Ticket;
  reopen(number: number): Ticket;
  /** Trackers from now on; what stopped because of a setting is tried again. */
  use(spec: TicketsSpec): void;
  /** Ends what is under way within a moment; what was not delivered is delivered by the next process. */
  dispose(): Promise<void>;
}
