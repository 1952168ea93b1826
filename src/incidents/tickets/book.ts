/** The book of tickets is the history, and what is told about them goes where all events go. */
import { hasErrands } from './rules/ticket.ts';
import type { Clock } from '../../base/clock.ts';
import type { Commit, Store } from '../../supervision/ports/store.ts';
import type { TicketBook } from './ports.ts';

export const ticketBook = (store: Store, clock: Clock, commit: (commit: Commit) => void): TicketBook => ({
  find: (number) => store.ticket(number),
  list: (query) => store.tickets(query),
  pending: () => store.tickets({ limit: Infinity }).filter(hasErrands).reverse(),
  save: (ticket, told) => {
    const at = clock.wallNow();
    const { subject } = ticket;
    const events = told.map(({ type, data }) => ({ at, subject, type, run: null, data }));
    commit({ tickets: [ticket], events });
  },
});
