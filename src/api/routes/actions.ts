/** What can be asked of the daemon. It only ever acts on what the configuration names: no route takes a command to run. */

import { z } from 'zod';
import { type Route, route } from '../route.ts';
import { NAMES, V1 } from '../schemas.ts';

const UP_BODY = z
  .strictObject({
    components: NAMES.optional().meta({ description: 'Default: all.' }),
    files: z.array(z.string().min(1).max(4096)).min(1).max(100).optional().meta({
      description:
        'The configuration files that are meant, absolute. Others than those the daemon runs with are refused.',
    }),
  })
  .meta({ examples: [{ components: ['api'] }] });

const SOME_NAMES = z.strictObject({ components: NAMES.min(1) }).meta({ examples: [{ components: ['api', 'worker'] }] });

const RELOAD_BODY = z
  .strictObject({
    dry_run: z.boolean().optional().meta({ description: 'Only say what would be done. Default: false.' }),
  })
  .meta({ examples: [{ dry_run: true }] });

const CLOSING = ['DAEMON_CLOSING'] as const;

const RESTART_BODY = z
  .strictObject({
    components: NAMES.min(1),
    recreate: z.boolean().optional().meta({
      description:
        'Make the containers of those that have one anew, also when nothing about them changed. Default: false.',
    }),
  })
  .meta({ examples: [{ components: ['api'] }, { components: ['web'], recreate: true }] });

const DOWN_BODY = z
  .strictObject({
    remove: z.boolean().optional().meta({
      description: 'Remove stopped containers and networks of this project when all is stopped. Default: false.',
    }),
  })
  .meta({ examples: [{}, { remove: true }] });

const forNamed = (action: 'start' | 'stop', summary: string): Route =>
  route({
    method: 'POST',
    path: `/v1/${action}`,
    id: `${action}Components`,
    access: 'control',
    summary,
    success: 202,
    body: SOME_NAMES,
    answer: 'Action',
    errors: ['NO_SUCH_COMPONENT', ...CLOSING],
    handler: ({ services, body }) => services.control[action](body.components),
  });

export const actionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/up',
    id: 'up',
    access: 'control',
    socketKeys: ['files'],
    summary: 'Applies the configuration as it is now and wants the named components (default: all) running.',
    success: 202,
    body: UP_BODY,
    answer: 'Up',
    errors: ['NO_SUCH_COMPONENT', 'CONFIG_INVALID', 'CONFIG_FILES_DIFFER', ...CLOSING],
    handler: ({ services, body }) => services.control.up(body.components ?? [], body.files ?? []),
  }),
  route({
    method: 'POST',
    path: '/v1/reload',
    id: 'reload',
    access: 'control',
    summary:
      'Applies the configuration as it is now; what is new is started. A mistake in it leaves everything as it was. With dry_run it only says what it would do.',
    body: RELOAD_BODY,
    answer: 'Reloaded',
    errors: ['CONFIG_INVALID', ...CLOSING],
    handler: ({ services, body }) => services.control.reload({ dryRun: body.dry_run ?? false }),
  }),
  route({
    method: 'GET',
    path: '/v1/validate',
    id: 'validate',
    access: 'control',
    summary:
      'Whether the configuration files could be applied as they are now, and every problem if not. Changes nothing.',
    answer: 'Validation',
    handler: ({ services }) => services.control.validate(),
  }),
  forNamed('start', 'Wants the named components running.'),
  forNamed('stop', 'Wants the named components stopped, and remembers that it was by hand.'),
  route({
    method: 'POST',
    path: '/v1/restart',
    id: 'restartComponents',
    access: 'control',
    summary: 'Ends the current run of the named components and begins a new one.',
    success: 202,
    body: RESTART_BODY,
    answer: 'Action',
    errors: ['NO_SUCH_COMPONENT', ...CLOSING],
    handler: ({ services, body }) => services.control.restart(body.components, { recreate: body.recreate ?? false }),
  }),
  route({
    method: 'POST',
    path: '/v1/down',
    id: 'down',
    access: 'control',
    summary:
      'Stops every component in reverse order, then ends the daemon. With remove, the stopped containers and the networks that were made for the project go, too; volumes stay.',
    success: 202,
    body: DOWN_BODY,
    answer: 'Action',
    errors: CLOSING,
    handler: ({ services, body }) => services.control.down({ remove: body.remove ?? false }),
  }),
  route({
    method: 'POST',
    path: '/v1/handover',
    id: 'handover',
    access: 'socket',
    summary: 'Ends the daemon and touches no component: the next daemon adopts them.',
    success: 202,
    answer: 'Handover',
    handler: ({ services }) => {
      services.control.handover();
      return { ...V1, action: 'handover' as const };
    },
  }),
];

/** Answered from memory: programs call it in their loops. */
export const beatRoute: Route = route({
  method: 'POST',
  path: '/v1/beat/{name}',
  id: 'beat',
  access: 'control',
  summary: 'Sends a heartbeat by ping for a component, or for an agent by its `log`.',
  answer: 'Beat',
  errors: ['NO_SUCH_COMPONENT', 'HEARTBEAT_NOT_BY_PING', 'COMPONENT_NOT_RUNNING', 'AGENT_NOT_RUNNING'],
  handler: ({ services, params }) => services.control.beat(params['name']!),
});
