/** How things are: status, one component, waiting for it. */

import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { AppError } from '../../base/pure/errors.ts';
import {
  GOALS,
  gaveUp,
  judgeGoal,
  keepsCrashing,
  type WaitGoal,
  waitedTooLong,
  watchFrom,
  watchOn,
} from '../../supervision/rules/goal.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';
import { findComponent } from '../answers.ts';
import { type Route, route, type Services } from '../route.ts';
import { NAME, upTo, V1 } from '../schemas.ts';

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
    access: 'read',
    summary: 'The state of every component and of the daemon.',
    answer: 'Status',
    handler: ({ services }) => services.control.status(),
  }),
  route({
    method: 'GET',
    path: '/v1/components/{name}',
    id: 'getComponent',
    access: 'read',
    summary: 'The state of one component.',
    answer: 'ComponentAnswer',
    errors: ['NO_SUCH_COMPONENT'],
    handler: ({ services, params }) => ({
      ...V1,
      ...findComponent(services.control, params['name']!),
    }),
  }),
  route({
    method: 'GET',
    path: '/v1/components/{name}/configuration',
    id: 'getConfiguration',
    access: 'read',
    summary:
      'The configuration of one component as it was applied, with all defaults and the schedule of its restarts; of variables only the names.',
    answer: 'Configuration',
    errors: ['NO_SUCH_COMPONENT'],
    handler: ({ services: { control }, params }) => {
      const { name } = findComponent(control, params['name']!);
      const found = control.configuration(name);
      if (found === null) throw new AppError('NO_SUCH_COMPONENT', { name, suggestion: '' }); // being removed
      return found;
    },
  }),
  route({
    method: 'GET',
    path: '/v1/wait',
    id: 'waitForComponent',
    access: 'read',
    summary: 'Answers when a component is ready, running, healthy, stopped or completed, or the time is up.',
    query: WAIT_QUERY,
    answer: 'ComponentAnswer',
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

// Holds an answer back until a component has come where somebody wants it.

/** Every event is a reason to look again; this is for what changes without one. */
const LOOK_MS = 250;

export interface WaitRequest {
  readonly component: string;
  readonly goal: WaitGoal;
  readonly timeoutMs: number;
}

/** Looks at once, and then whenever something happened to it. Rejects when it gave up, the time is up, or the server closes. */
export function awaitGoal(
  look: () => ComponentView,
  { component, goal, timeoutMs }: WaitRequest,
  response: ServerResponse,
  { control, streams }: Pick<Services, 'control' | 'streams'>,
): Promise<ComponentView> {
  return new Promise((resolve, reject) => {
    const until = performance.now() + timeoutMs;
    let watch = watchFrom(null);
    let isFirst = true;
    const check = (): void => {
      try {
        const view = look();
        watch = isFirst ? watchFrom(view) : watchOn(watch, view);
        isFirst = false;
        const verdict = judgeGoal(view, goal, watch);
        if (verdict === 'reached') settle(() => resolve(view));
        else if (verdict === 'given-up') throw gaveUp(view);
        else if (verdict === 'crashing')
          throw keepsCrashing(view, watch, control.history.crashes({ component: view.name, limit: 1 })[0]);
        else if (performance.now() >= until) throw waitedTooLong(view.name, view, timeoutMs);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const closing = (): void => settle(() => reject(new AppError('DAEMON_CLOSING')));
    const timer = setInterval(check, Math.min(LOOK_MS, Math.max(1, timeoutMs)));
    // Of all the others nothing is heard: with many that wait and many that crash, looking at each event would be all we do.
    const unsubscribe = control.subscribe(({ subject }) => {
      if (subject.name === component) check();
    });
    const settle = (finish: () => void): void => {
      clearInterval(timer);
      unsubscribe();
      finish();
    };
    try {
      streams.add(response, closing);
    } catch (error) {
      settle(() => reject(error));
      return;
    }
    response.once('close', closing); // whoever asked is gone; after an answer this changes nothing
    check();
  });
}
