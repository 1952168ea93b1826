/** Sessions: made from the templates of the configuration, and from nothing else. */
import { z } from 'zod';
import {
  type OneSessionView,
  oneSessionView,
  type SessionsView,
  type SessionView,
  sessionsView,
} from '../../sessions/rules/view.ts';
import { type Route, route } from '../route.ts';
import { EMPTY_BODY, FLAG, NAME, NO_BODY, NO_QUERY } from '../schemas.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from '../views/view.ts';

// Sessions, as the API returns them.

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

/** More than any lease. */
const MAX_MS = 366 * 24 * 3_600_000;

const LIST_QUERY = z.strictObject({
  user_id: z.string().max(200).optional().meta({ description: 'Only of this user.' }),
  all: FLAG.optional().meta({ description: 'Also those that have ended.' }),
});

const SPAWN_BODY = z
  .strictObject({
    template: NAME.meta({ description: 'A name under `sessions.templates`.' }),
    user_id: z.string().max(200).meta({ description: 'Any text of 1 to 128 characters.' }),
    ttl_ms: z.int().min(1).max(MAX_MS).optional().meta({ description: 'Default: as the template says.' }),
    wait: z
      .enum(['started', 'healthy'])
      .optional()
      .meta({ description: 'What to wait for before the answer. Default: started.' }),
  })
  .meta({ examples: [{ template: 'web-easy', user_id: 'ann' }] });

const EXTEND_BODY = z.strictObject({ by_ms: z.int().min(1).max(MAX_MS) }).meta({ examples: [{ by_ms: 1_800_000 }] });

const FIND = ['NO_SUCH_SESSION', 'SESSION_ID_AMBIGUOUS'] as const;
const SPAWN_ERRORS = [
  ...(['NO_SUCH_TEMPLATE', 'SESSION_INVALID', 'SESSION_QUOTA', 'SESSIONS_FULL', 'SESSIONS_BUSY'] as const),
  ...([
    'SESSION_SPAWN_FAILED',
    'SESSION_ENGINE_FAULT',
    'SESSION_NOT_READY',
    'SESSION_ENDED',
    'ENGINE_UNREACHABLE',
    'SESSIONS_CLOSED',
  ] as const),
];

export const sessionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/sessions',
    id: 'listSessions',
    summary: 'Sessions, oldest first, with their health as it is known now.',
    success: 200,
    query: LIST_QUERY,
    body: NO_BODY,
    answer: SESSIONS,
    errors: [],
    handler: ({ services, query: { user_id: user, all } }) =>
      sessionsView(services.control.sessions.list({ user, all })),
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/{id}',
    id: 'getSession',
    summary: 'One session, by its id or a beginning of it; also one that has ended.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: ONE_SESSION,
    errors: FIND,
    handler: ({ services, params }) => oneSessionView(services.control.sessions.get(params['id']!)),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions',
    id: 'spawnSession',
    summary: 'Makes a container for a user, and answers when it has started and its port is known.',
    success: 200,
    query: NO_QUERY,
    body: SPAWN_BODY,
    answer: ONE_SESSION,
    errors: SPAWN_ERRORS,
    waits: true,
    handler: async ({ services, body: { template, user_id: user, ttl_ms: ttlMs, wait } }) =>
      oneSessionView(await services.control.sessions.spawn({ template, user, ttlMs, wait })),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions/{id}/stop',
    id: 'stopSession',
    summary:
      'Ends a session and removes its container, from any state and any number of times. While the Engine is away it is remembered, and the state is "ending".',
    success: 200,
    query: NO_QUERY,
    body: EMPTY_BODY,
    answer: ONE_SESSION,
    errors: [...FIND, 'SESSIONS_CLOSED'],
    waits: true,
    handler: async ({ services, params }) => oneSessionView(await services.control.sessions.stop(params['id']!)),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions/{id}/extend',
    id: 'extendSession',
    summary: 'Makes a lease longer, as far as its template allowed when it began.',
    success: 200,
    query: NO_QUERY,
    body: EXTEND_BODY,
    answer: ONE_SESSION,
    errors: [...FIND, 'SESSION_INVALID', 'SESSION_ENDED', 'SESSION_LEASE_FULL', 'SESSIONS_CLOSED'],
    handler: ({ services, params, body }) =>
      oneSessionView(services.control.sessions.extend(params['id']!, body.by_ms)),
  }),
];
