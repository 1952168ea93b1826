/** Tickets, as the API returns them. */
import { z } from 'zod';
import type { DeliveryView, OneTicketView, TicketsView, TicketView } from '../../incidents/tickets/rules/view.ts';
import { SUBJECT } from './component.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from './view.ts';

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
