/** Sessions: made from the templates of the configuration, and from nothing else. */
import { z } from 'zod';
import { oneSessionView } from '../../sessions/rules/view.ts';
import { session, sessions } from '../answers.ts';
import { type Route, route } from '../route.ts';
import { FLAG, NAME } from '../schemas.ts';

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
    access: 'read',
    summary: 'Sessions, oldest first, with their health as it is known now.',
    query: LIST_QUERY,
    answer: 'Sessions',
    handler: ({ services, query: { user_id: user, all } }) => sessions(services.control, { user, all }),
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/{id}',
    id: 'getSession',
    access: 'read',
    summary: 'One session, by its id or a beginning of it; also one that has ended.',
    answer: 'OneSession',
    errors: FIND,
    handler: ({ services, params }) => session(services.control, params['id']!),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions',
    id: 'spawnSession',
    access: 'control',
    summary: 'Makes a container for a user, and answers when it has started and its port is known.',
    body: SPAWN_BODY,
    answer: 'OneSession',
    errors: SPAWN_ERRORS,
    waits: true,
    handler: async ({ services, body: { template, user_id: user, ttl_ms: ttlMs, wait } }) =>
      oneSessionView(await services.control.sessions.spawn({ template, user, ttlMs, wait })),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions/{id}/stop',
    id: 'stopSession',
    access: 'control',
    summary:
      'Ends a session and removes its container, from any state and any number of times. While the Engine is away it is remembered, and the state is "ending".',
    answer: 'OneSession',
    errors: [...FIND, 'SESSIONS_CLOSED'],
    waits: true,
    handler: async ({ services, params }) => oneSessionView(await services.control.sessions.stop(params['id']!)),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions/{id}/extend',
    id: 'extendSession',
    access: 'control',
    summary: 'Makes a lease longer, as far as its template allowed when it began.',
    body: EXTEND_BODY,
    answer: 'OneSession',
    errors: [...FIND, 'SESSION_INVALID', 'SESSION_ENDED', 'SESSION_LEASE_FULL', 'SESSIONS_CLOSED'],
    handler: ({ services, params, body }) =>
      oneSessionView(services.control.sessions.extend(params['id']!, body.by_ms)),
  }),
];
