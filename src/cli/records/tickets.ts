/** Tickets as the records on disk have them. */
import { AppError } from '../../base/pure/errors.ts';
import { bugNumber, ticketNumber } from '../../incidents/tickets/rules/number.ts';
import { oneTicketView, ticketsView } from '../../incidents/tickets/rules/view.ts';
import type { History } from '../../supervision/ports/store.ts';
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
