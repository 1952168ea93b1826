/** Tickets: they are made by crashes, never by a request. */
import { z } from 'zod';
import { ticketNumber } from '../../incidents/tickets/rules/number.ts';
import {
  type DeliveryView,
  type OneTicketView,
  oneTicketView,
  type TicketsView,
  type TicketView,
  ticketsView,
} from '../../incidents/tickets/rules/view.ts';
import { type Route, route } from '../route.ts';
import { EMPTY_BODY, limit, NO_BODY, NO_QUERY } from '../schemas.ts';
import { SUBJECT } from '../views/component.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from '../views/view.ts';

// Tickets, as the API returns them.

const nullable = <S extends z.ZodType>(schema: S, description: string) => schema.nullable().meta({ description });

const example: TicketView = {
  number: 'BUG-003',
  state: 'open',
  title: "worker: ImportError: cannot import name 'SkillNames'",
  description: 'component worker crashed 3 times with this cause when this was written.',
  priority: 'high',
  category: 'crash',
  reproduction_steps: ['keepwell start worker', 'After 2 s it ends: exit code 1'],
  root_cause: "app/names.py does not export 'SkillNames'",
  related_files: ['app/names.py'],
  error_logs: "ImportError: cannot import name 'SkillNames'",
  error_type: 'ImportError',
  assigned_to: 'code_developer',
  count: 3,
  first_seen: '2026-01-02T03:04:05.678Z',
  last_seen: '2026-01-02T03:05:05.678Z',
  closed_at: null,
  fingerprint: 'v1:8f14e45fceea167a',
  task_id: null,
  subject: { kind: 'component', name: 'worker' },
  subjects: [{ kind: 'component', name: 'worker' }],
  tasks: [],
  affected: [],
  incident: 7,
  trackers: { github: 'https://github.com/acme/app/issues/12' },
  deliveries: { github: { state: 'delivered', attempts: 0, next_attempt_at: null, error: null } },
};

const DELIVERY = named(
  'Delivery',
  viewOf<DeliveryView>()(
    z.strictObject({
      state: z.enum(['delivered', 'pending', 'stopped']).meta({
        description:
          'delivered: the tracker knows everything; pending: it will be told; stopped: not before somebody changes something.',
      }),
      attempts: COUNT.meta({ description: 'Failed tries of what is to be done next.' }),
      next_attempt_at: TIME.nullable(),
      error: nullable(z.string(), 'Why the last try failed.'),
    }),
  ),
  'How far one tracker knows about a ticket.',
);

export const TICKET = named(
  'Ticket',
  viewOf<TicketView>()(
    z.strictObject({
      number: z.string().meta({ description: 'Never given to another one.' }),
      state: z.enum(['open', 'closed']),
      title: z.string(),
      description: z.string(),
      priority: z.enum(['low', 'medium', 'high', 'critical']),
      category: z.enum(['crash', 'freeze', 'cleanup']),
      reproduction_steps: z.array(z.string()),
      root_cause: nullable(z.string(), 'One sentence.'),
      related_files: z.array(z.string()),
      error_logs: z.string(),
      error_type: z.string().nullable(),
      assigned_to: z.string().nullable(),
      count: COUNT.meta({ description: 'Crashes with this cause, those before the ticket included.' }),
      first_seen: TIME,
      last_seen: TIME,
      closed_at: TIME.nullable(),
      fingerprint: z.string(),
      task_id: nullable(z.string(), 'Agents only: the task, when it is of one only.'),
      subject: SUBJECT,
      subjects: z.array(SUBJECT).meta({ description: 'All that crashed with this cause.' }),
      tasks: z.array(z.string()).meta({ description: 'Tasks of the agents among them.' }),
      affected: z
        .array(z.string())
        .meta({ description: 'Components that depend on them, and went down or cannot start because of it.' }),
      incident: COUNT,
      trackers: z
        .record(z.string(), z.string())
        .meta({ description: 'Where it is to be found in each tracker that has said so.' }),
      deliveries: z.record(z.string(), DELIVERY),
    }),
  ),
  'One problem that people should look at.',
  example,
);

export const TICKETS = named(
  'Tickets',
  viewOf<TicketsView>()(z.strictObject({ schema_version: SCHEMA_VERSION, tickets: z.array(TICKET) })),
  'Tickets, newest first.',
  { schema_version: 1, tickets: [example] },
);

export const ONE_TICKET = named(
  'OneTicket',
  viewOf<OneTicketView>()(z.strictObject({ schema_version: SCHEMA_VERSION, ticket: TICKET })),
  'The ticket, as it is then.',
  { schema_version: 1, ticket: example },
);

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
    summary: 'Tickets, newest first.',
    success: 200,
    query: LIST_QUERY,
    body: NO_BODY,
    answer: TICKETS,
    errors: [],
    handler: ({ services, query: { state = 'open', limit: most = DEFAULT_LIMIT } }) =>
      ticketsView(services.control.tickets.list({ state: state === 'all' ? undefined : state, limit: most })),
  }),
  route({
    method: 'GET',
    path: '/v1/tickets/{number}',
    id: 'getTicket',
    summary: 'One ticket, by its number: BUG-003, bug-3 or 3.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: ONE_TICKET,
    errors: FIND,
    handler: ({ services, params }) => oneTicketView(services.control.tickets.show(ticketNumber(params['number']!))),
  }),
  route({
    method: 'POST',
    path: '/v1/tickets/{number}/close',
    id: 'closeTicket',
    summary: 'Closes a ticket, any number of times. Trackers are told in the background; the next crash reopens it.',
    success: 200,
    query: NO_QUERY,
    body: EMPTY_BODY,
    answer: ONE_TICKET,
    errors: FIND,
    handler: ({ services, params }) => oneTicketView(services.control.tickets.close(ticketNumber(params['number']!))),
  }),
  route({
    method: 'POST',
    path: '/v1/tickets/{number}/reopen',
    id: 'reopenTicket',
    summary: 'Opens a closed ticket again, any number of times. Trackers are told in the background.',
    success: 200,
    query: NO_QUERY,
    body: EMPTY_BODY,
    answer: ONE_TICKET,
    errors: FIND,
    handler: ({ services, params }) => oneTicketView(services.control.tickets.reopen(ticketNumber(params['number']!))),
  }),
];
