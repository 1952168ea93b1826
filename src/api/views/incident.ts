/** Incidents, as the API returns them. */
import { z } from 'zod';
import type { IncidentsView, IncidentView } from '../../incidents/rules/view.ts';
import { SUBJECT } from './component.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from './view.ts';

const note = (description: string) => ({ description });

const subject = { kind: 'component', name: 'database' } as const;

const example: IncidentView = {
  id: 7,
  state: 'open',
  title: 'database: exit code 1',
  root_cause: 'the disk is full',
  fingerprint: 'v1:8f14e45fceea167a',
  task_id: null,
  tasks: [],
  subject,
  subjects: [subject],
  affected: ['api', 'worker'],
  count: 3,
  reopened: 0,
  opened_at: '2026-01-02T03:04:05.678Z',
  last_at: '2026-01-02T03:05:05.678Z',
  resolved_at: null,
  ticket: 'BUG-003',
  folded_into: null,
};

const INCIDENT = named(
  'Incident',
  viewOf<IncidentView>()(
    z.strictObject({
      id: COUNT,
      state: z.enum(['open', 'resolved']),
      title: z.string(),
      root_cause: z.string().nullable(),
      fingerprint: z.string(),
      task_id: z.string().nullable().meta(note('The task of the agents that crashed with it, when it is one only.')),
      tasks: z.array(z.string()).meta(note('Tasks of the agents that crashed with it.')),
      subject: SUBJECT,
      subjects: z.array(SUBJECT).meta(note('All that crashed with it.')),
      affected: z
        .array(z.string())
        .meta(note('Components that depend on them, and went down or cannot start because of it.')),
      count: COUNT.meta(note('Crashes with this cause.')),
      reopened: COUNT.meta(note('How often it came back after a recovery.')),
      opened_at: TIME,
      last_at: TIME.meta(note('Of the last crash.')),
      resolved_at: TIME.nullable(),
      ticket: z.string().nullable(),
      folded_into: COUNT.nullable().meta(note('The incident that it turned out to be a part of.')),
    }),
  ),
  'A problem with one cause, from its first crash to the recovery.',
  example,
);

export const INCIDENTS = named(
  'Incidents',
  viewOf<IncidentsView>()(z.strictObject({ schema_version: SCHEMA_VERSION, incidents: z.array(INCIDENT) })),
  'Incidents, newest first.',
  { schema_version: 1, incidents: [example] },
);
