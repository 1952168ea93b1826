/** How things are: status, one component, waiting for it. */
import { z } from 'zod';
import { GOALS } from '../../supervision/rules/goal.ts';
import { findComponent } from '../answers.ts';
import { type Route, route } from '../route.ts';
import { NAME, NO_BODY, NO_QUERY, upTo, V1 } from '../schemas.ts';
import { COMPONENT_ANSWER, STATUS } from '../views/component.ts';
import { awaitGoal } from '../wait.ts';

const DEFAULT_WAIT_MS = 60_000;
const MAX_WAIT_MS = 600_000;

const WAIT_QUERY = z.strictObject({
  component: NAME.meta({ description: 'Which component.' }),
  for: z.enum(GOALS).default('ready').meta({ description: 'What to wait for.' }),
  timeout_ms: upTo(MAX_WAIT_MS).default(DEFAULT_WAIT_MS).meta({ description: 'How long at most.' }),
});

export const statusRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/status',
    id: 'getStatus',
    summary: 'The state of every component and of the daemon.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: STATUS,
    errors: [],
    handler: ({ services }) => services.control.status(),
  }),
  route({
    method: 'GET',
    path: '/v1/components/{name}',
    id: 'getComponent',
    summary: 'The state of one component.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: COMPONENT_ANSWER,
    errors: ['NO_SUCH_COMPONENT'],
    handler: ({ services, params }) => ({
      ...V1,
      ...findComponent(services.control, params['name']!),
    }),
  }),
  route({
    method: 'GET',
    path: '/v1/wait',
    id: 'waitForComponent',
    summary: 'Answers when a component is ready, running, healthy, stopped or completed, or the time is up.',
    success: 200,
    query: WAIT_QUERY,
    body: NO_BODY,
    answer: COMPONENT_ANSWER,
    errors: [
      'NO_SUCH_COMPONENT',
      'COMPONENT_GAVE_UP',
      'COMPONENT_CRASHED',
      'WAIT_TIMEOUT',
      'TOO_MANY_STREAMS',
      'DAEMON_CLOSING',
    ],
    handler: async ({ services, response, query }) => {
      const look = () => findComponent(services.control, query.component);
      const goal = { component: query.component, goal: query.for, timeoutMs: query.timeout_ms };
      return { ...V1, ...(await awaitGoal(look, goal, response, services)) };
    },
  }),
];
