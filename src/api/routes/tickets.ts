/** Tickets: they are made by crashes, never by a request. */
import { z } from 'zod';
import { ticketNumber } from '../../incidents/tickets/rules/number.ts';
import { oneTicketView } from '../../incidents/tickets/rules/view.ts';
import { ticket, tickets } from '../answers.ts';
import { type Route, route } from '../route.ts';
import { limit } from '../schemas.ts';

const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

const LIST_QUERY = z.strictObject({
  state: z.enum(['open', 'closed', 'all']).optional().meta({ description: 'Default: open.' }),
  limit: limit(MAX_LIMIT)
    .optional()
    .meta({ description: `Of those that are closed, at most so many. Default: ${DEFAULT_LIMIT}.` }),
});

const FIND = ['NO_SUCH_TICKET', 'TICKET_NUMBER_INVALID'] as const;

export const ticketRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/tickets',
    id: 'listTickets',
    access: 'read',
    summary: 'Tickets, newest first.',
    query: LIST_QUERY,
    answer: 'Tickets',
    handler: ({ services, query }) => tickets(services.control, query),
  }),
  route({
    method: 'GET',
    path: '/v1/tickets/{number}',
    id: 'getTicket',
    access: 'read',
    summary: 'One ticket, by its number: BUG-003, bug-3 or 3.',
    answer: 'OneTicket',
    errors: FIND,
    handler: ({ services, params }) => ticket(services.control, params['number']!),
  }),
  route({
    method: 'POST',
    path: '/v1/tickets/{number}/close',
    id: 'closeTicket',
    access: 'control',
    summary: 'Closes a ticket, any number of times. Trackers are told in the background; the next crash reopens it.',
    answer: 'OneTicket',
    errors: FIND,
    handler: ({ services, params }) => oneTicketView(services.control.tickets.close(ticketNumber(params['number']!))),
  }),
  route({
    method: 'POST',
    path: '/v1/tickets/{number}/reopen',
    id: 'reopenTicket',
    access: 'control',
    summary: 'Opens a closed ticket again, any number of times. Trackers are told in the background.',
    answer: 'OneTicket',
    errors: FIND,
    handler: ({ services, params }) => oneTicketView(services.control.tickets.reopen(ticketNumber(params['number']!))),
  }),
];
