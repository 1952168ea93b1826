/**
 * Tickets: what is filed, and how trackers get to know of it. Nothing here blocks supervision. When there is a ticket is decided by
 * `ticketFor` and `afterRecovery` (src/incidents/tickets/rules), and committed with the crash; the ticket service is told afterwards (`filed`).
 */

import type { DeliveryResult } from '../delivery-queue.ts';
import { wordsOf } from './rules/pending-updates.ts';
import type { TicketsSpec } from './rules/settings.ts';
import type { PendingUpdate, Ticket, TicketEvent, TicketsQuery } from './rules/ticket.ts';
import { ticketView } from './rules/view.ts';

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

/** One delivery: the ticket as it is now, and the one thing to do. It may have been done before we were killed: look first. */
export interface Delivery {
  readonly ticket: Ticket;
  readonly update: PendingUpdate;
  /** What the tracker calls the ticket; null: it has not said yet. */
  readonly id: string | null;
  readonly address: string | null;
}

/** One place that tickets are written to. Never throws; gives up by itself after its time limit or when `signal` says so. */
export interface Tracker {
  readonly name: string;
  readonly target: string;
  /** It keeps a copy of the ticket, and wants to be told of every change of it (`update`). */
  readonly keepsCopy: boolean;
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult<Delivered>>;
}

export interface TicketService {
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

// What a webhook and a command are told, as JSON.

export interface TicketMessage {
  readonly schema_version: 1;
  readonly action: string;
  /** The same for the same thing, however often it is sent. */
  readonly idempotency_key: string;
  /** What there is to say about it; empty for a new ticket. */
  readonly text: string;
  /** As `keepwell tickets show -o json` has it. */
  readonly ticket: Omit<ReturnType<typeof ticketView>, 'deliveries'>;
}

export function messageOf({ ticket, update }: Delivery): TicketMessage {
  const { deliveries: _, ...view } = ticketView(ticket);
  return { schema_version: 1, action: update.deed, idempotency_key: update.key, text: wordsOf(update), ticket: view };
}
