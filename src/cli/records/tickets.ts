/** Tickets as the records on disk have them. */
import { AppError } from '../../core/errors.ts';
import { bugNumber, ticketNumber } from '../../core/tickets/number.ts';
import { oneTicketView, ticketsView } from '../../core/tickets/view.ts';
import type { History } from '../../ports/store.ts';
import type { Records } from './records.ts';

const MAX_CLOSED = 100;

export const ticketRecords = (history: History): Pick<Records, 'tickets' | 'ticket'> => ({
  tickets: async ({ state = 'open', limit = MAX_CLOSED }) =>
    ticketsView(history.tickets({ state: state === 'all' ? undefined : state, limit })),
  ticket: async (text) => {
    const number = ticketNumber(text);
    const ticket = history.ticket(number);
    if (ticket === null) throw new AppError('NO_SUCH_TICKET', { ticket: bugNumber(number) });
    return oneTicketView(ticket);
  },
});
