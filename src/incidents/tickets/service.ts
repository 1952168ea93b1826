/** Where tickets are kept, closed and reopened, and from where trackers are told. A tracker that is down holds up nobody else. */

import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { Recorder, Store } from '../../history/ports.ts';
import { isSimulated } from '../../supervision/rules/simulation.ts';
import { DeliveryQueue, type DeliveryWorld } from '../delivery-queue.ts';
import { TrackerBacklog, type TrackerBacklogParts } from './backlog.ts';
import type { Delivered, Delivery } from './kind.ts';
import { TRACKER_KINDS } from './kinds.ts';
import type { TicketBook, TicketService, TicketsSpec } from './ports.ts';
import { closed, reopenedByHand } from './rules/notes.ts';
import { bugNumber } from './rules/number.ts';
import { hasPendingUpdates, type Ticket, type TicketChange, type TicketsQuery } from './rules/ticket.ts';

export interface TicketServiceParts extends DeliveryWorld, TrackerBacklogParts {
  readonly spec: TicketsSpec;
}

export function createTicketService(parts: TicketServiceParts): TicketService {
  return new Trackers(parts);
}

class Trackers implements TicketService {
  readonly #parts: TicketServiceParts;
  #spec: TicketsSpec;
  #told: readonly { readonly backlog: TrackerBacklog; readonly queue: DeliveryQueue<Delivery, Delivered> }[] = [];
  /** Those of settings that are over: they end by themselves. */
  #ending: Promise<unknown> = Promise.resolve();

  constructor(parts: TicketServiceParts) {
    this.#parts = parts;
    this.#spec = parts.spec;
    this.use(parts.spec);
  }

  filed(tickets: readonly Ticket[]): void {
    const numbers = tickets.map(({ number }) => number);
    for (const { backlog, queue } of this.#told) {
      backlog.take(numbers);
      queue.wake();
    }
  }

  list(query: TicketsQuery): readonly Ticket[] {
    return this.#parts.book.list(query);
  }

  show(number: number): Ticket {
    const ticket = this.#parts.book.find(number);
    if (ticket === null) throw new AppError('NO_SUCH_TICKET', { ticket: bugNumber(number) });
    return ticket;
  }

  close(number: number): Ticket {
    const ticket = this.show(number);
    return this.#changed(ticket, closed(ticket, this.#spec, this.#parts.clock.wallNow()));
  }

  reopen(number: number): Ticket {
    const ticket = this.show(number);
    return this.#changed(ticket, reopenedByHand(ticket, concerned(ticket, this.#spec), this.#parts.clock.wallNow()));
  }

  /** New queues know of no refusal, so what had stopped is tried again. */
  use(spec: TicketsSpec): void {
    this.#spec = spec;
    const ended = this.dispose();
    this.#ending = ended;
    this.#told = spec.trackers.map((one) => {
      const backlog = new TrackerBacklog(one, this.#parts);
      return { backlog, queue: new DeliveryQueue(backlog, this.#parts, ended) };
    });
    this.filed(this.#parts.book.pending());
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#ending, ...this.#told.map(({ queue }) => queue.close())]);
  }

  #changed(before: Ticket, change: TicketChange | null): Ticket {
    if (change === null) return before;
    this.#parts.book.save(change.ticket, change.told);
    this.filed([change.ticket]);
    return change.ticket;
  }
}

/** A rehearsal that was none of a tracker's business still is not. */
export const concerned = (ticket: Ticket, spec: TicketsSpec): TicketsSpec => ({
  ...spec,
  trackers: spec.trackers.filter(
    ({ name, kind }) =>
      !isSimulated(ticket.rootCause) || !TRACKER_KINDS[kind].isElsewhere || ticket.trackers[name] !== undefined,
  ),
});

// The book of tickets is the history, and what is told about them goes where all events go.

export const ticketBook = (store: Store, clock: Clock, commit: Recorder): TicketBook => ({
  find: (number) => store.ticket(number),
  list: (query) => store.tickets(query),
  pending: () => store.tickets({ limit: Infinity }).filter(hasPendingUpdates).reverse(),
  save: (ticket, told) => {
    const at = clock.wallNow();
    const { subject } = ticket;
    const events = told.map(({ type, data }) => ({ at, subject, type, run: null, data }));
    commit({ tickets: [ticket], events });
  },
});
