/**
 * Tickets: what is filed, and how trackers get to know of it. Nothing here blocks supervision. When there is a ticket is decided by
 * `ticketFor` and `afterRecovery` (src/incidents/tickets/rules), and committed with the crash; the ticket service is told afterwards (`filed`).
 */

import type { TrackerSpec } from './kinds.ts';
import type { TicketSettings } from './rules/settings.ts';
import type { Ticket, TicketEvent, TicketsQuery } from './rules/ticket.ts';

export type { TicketsQuery };

/** `tickets:` of the configuration, complete. */
export interface TicketsSpec extends TicketSettings {
  readonly trackers: readonly TrackerSpec[];
}

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
