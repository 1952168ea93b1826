/** Tickets as the records have them. */
import { AppError } from '../../base/pure/errors.ts';
import type { History } from '../../history/ports.ts';
import type { TicketService } from './ports.ts';
import { bugNumber } from './rules/number.ts';

export const recordedTickets = (
  history: Pick<History, 'ticket' | 'tickets'>,
): Pick<TicketService, 'list' | 'show'> => ({
  list: (query) => history.tickets(query),
  show: (number) => {
    const ticket = history.ticket(number);
    if (ticket === null) throw new AppError('NO_SUCH_TICKET', { ticket: bugNumber(number) });
    return ticket;
  },
});
