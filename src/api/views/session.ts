/** Sessions, as the API returns them. */
import { z } from 'zod';
import type { OneSessionView, SessionsView, SessionView } from '../../sessions/rules/view.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from './view.ts';

const nullable = <S extends z.ZodType>(schema: S, description: string) => schema.nullable().meta({ description });

const example: SessionView = {
  session_id: '5f0c6d1e9b7a4c02a3d4e5f60718293a',
  user_id: 'ann',
  challenge_id: 'web-easy',
  container_id: '7c1f0a9be2d4',
  host: '127.0.0.1',
  port: 49153,
  created_at: '2026-01-02T03:04:05.678Z',
  expires_at: '2026-01-02T03:34:05.678Z',
  health_status: 'healthy',
  health_reason: null,
  state: 'live',
  restarts: 0,
  ended_at: null,
  end_reason: null,
  end_note: null,
};

export const SESSION = named(
  'Session',
  viewOf<SessionView>()(
    z.strictObject({
      session_id: z.string(),
      user_id: z.string(),
      challenge_id: z.string().meta({ description: 'The name of its template.' }),
      container_id: z.string().nullable(),
      host: nullable(z.string(), 'Null: nothing is published, or it is not known yet.'),
      port: nullable(z.int(), 'On `host`. It may be another one after a restart.'),
      created_at: TIME,
      expires_at: TIME,
      health_status: z.enum(['healthy', 'unhealthy', 'starting', 'none', 'unknown']).meta({
        description: "Docker's words; none: there is no health check; unknown: nobody could look.",
      }),
      health_reason: nullable(z.string(), 'Why it is not healthy, or why nobody knows.'),
      state: z.enum(['spawning', 'live', 'ending', 'ended']),
      restarts: COUNT,
      ended_at: nullable(TIME, 'When its end was decided.'),
      end_reason: z.enum(['stopped', 'expired', 'gave-up', 'vanished', 'spawn-failed', 'interrupted']).nullable(),
      end_note: nullable(z.string(), 'A sentence about its end.'),
    }),
  ),
  "One user's container with a lease.",
  example,
);

export const SESSIONS = named(
  'Sessions',
  viewOf<SessionsView>()(z.strictObject({ schema_version: SCHEMA_VERSION, sessions: z.array(SESSION) })),
  'Sessions, oldest first.',
  { schema_version: 1, sessions: [example] },
);

export const ONE_SESSION = named(
  'OneSession',
  viewOf<OneSessionView>()(z.strictObject({ schema_version: SCHEMA_VERSION, session: SESSION })),
  'The session, as it is then.',
  { schema_version: 1, session: example },
);
