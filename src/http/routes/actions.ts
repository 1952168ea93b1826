/** What can be asked of the daemon. It only ever acts on what the configuration names: no route takes a command to run. */
import { z } from 'zod';
import { type Route, route } from '../route.ts';
import { EMPTY_BODY, NAMES, NO_QUERY } from '../schemas.ts';

const UP_BODY = z.strictObject({
  components: NAMES.optional(),
  /** Absolute paths of the configuration, which must be the ones the daemon already uses. */
  files: z.array(z.string().min(1).max(4096)).min(1).max(100),
});

const SOME_NAMES = z.strictObject({ components: NAMES.min(1) });

const named = (action: 'start' | 'stop' | 'restart', summary: string): Route =>
  route({
    method: 'POST',
    path: `/v1/${action}`,
    summary,
    success: 202,
    query: NO_QUERY,
    body: SOME_NAMES,
    handler: ({ services, body }) => services.control[action](body.components),
  });

export const actionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/up',
    summary: 'Applies the configuration as it is now and wants the named components (default: all) running.',
    success: 202,
    query: NO_QUERY,
    body: UP_BODY,
    handler: ({ services, body }) => services.control.up(body.components ?? [], body.files),
  }),
  named('start', 'Wants the named components running.'),
  named('stop', 'Wants the named components stopped, and remembers that it was by hand.'),
  named('restart', 'Ends the current run of the named components and begins a new one.'),
  route({
    method: 'POST',
    path: '/v1/down',
    summary: 'Stops every component in reverse order, then ends the daemon.',
    success: 202,
    query: NO_QUERY,
    body: EMPTY_BODY,
    handler: ({ services }) => services.control.down(),
  }),
  route({
    method: 'POST',
    path: '/v1/handover',
    summary: 'Ends the daemon and touches no component: the next daemon adopts them.',
    success: 202,
    query: NO_QUERY,
    body: EMPTY_BODY,
    handler: ({ services }) => {
      services.control.handover();
      return { schema_version: 1, action: 'handover' };
    },
  }),
];
