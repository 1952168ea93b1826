/** What can be asked of the daemon. It only ever acts on what the configuration names: no route takes a command to run. */
import { z } from 'zod';
import type { AppliedView, PlanStep } from '../../supervision/rules/plan.ts';
import type { ActionView, ReloadView, UpView, ValidationView } from '../control.ts';
import { type Route, route } from '../route.ts';
import { EMPTY_BODY, NAMES, NO_BODY, NO_QUERY, V1 } from '../schemas.ts';
import { named, SCHEMA_VERSION, viewOf } from '../views/view.ts';

// The answers to what was asked for, as schemas.

const names = z.array(z.string());

const STEP = named(
  'PlanStep',
  viewOf<PlanStep>()(
    z.strictObject({
      component: z.string(),
      action: z.enum(['added', 'restarted', 'changed', 'removed', 'unchanged']),
      because: names.meta({
        description:
          'Names of what changed that only a new run can have, such as "command" or "env LOG_LEVEL". No values.',
      }),
      in_place: names.meta({ description: 'Names of what changed that takes hold without a new run.' }),
      starts: z
        .boolean()
        .meta({ description: 'It does not run and is started: it is new, or something new needs it.' }),
      note: z.string().nullable().meta({ description: 'What else there is to say, for people.' }),
    }),
  ),
  'What is done with one component when the configuration is applied, and why.',
);

const appliedFields = {
  added: names,
  changed: names.meta({ description: 'With or without a restart.' }),
  restarted: names.meta({ description: 'Those of the changed ones that are restarted for it.' }),
  removed: names,
  unchanged: names,
  steps: z.array(STEP),
};
const kept = { because: [], in_place: [], starts: false, note: null };
const exampleApplied = {
  added: ['worker'],
  changed: ['api'],
  restarted: ['api'],
  removed: [],
  unchanged: ['database'],
  steps: [
    { ...kept, component: 'database', action: 'unchanged' },
    { ...kept, component: 'api', action: 'restarted', because: ['env LOG_LEVEL'] },
    { ...kept, component: 'worker', action: 'added', starts: true, note: 'started' },
  ],
};

const APPLIED = named(
  'Applied',
  viewOf<AppliedView>()(z.strictObject(appliedFields)),
  'What applying the configuration changed, by component.',
);

export const UP = named(
  'Up',
  viewOf<UpView>()(z.strictObject({ schema_version: SCHEMA_VERSION, applied: APPLIED, components: names })),
  'What was applied, and which components are wanted now, in start order.',
  { schema_version: 1, applied: exampleApplied, components: ['database', 'api', 'worker'] },
);

export const RELOADED = named(
  'Reloaded',
  viewOf<ReloadView>()(
    z.strictObject({
      schema_version: SCHEMA_VERSION,
      dry_run: z.boolean().meta({ description: 'True: this is what would be done; nothing was.' }),
      settings: names.meta({
        description: 'What changed for the project as a whole; it takes hold without a restart.',
      }),
      ...appliedFields,
    }),
  ),
  'What applying the configuration did, or would do, by component.',
  { schema_version: 1, dry_run: false, settings: [], ...exampleApplied },
);

export const ACTION = named(
  'Action',
  viewOf<ActionView>()(
    z.strictObject({
      schema_version: SCHEMA_VERSION,
      action: z.enum(['start', 'stop', 'restart', 'down']),
      components: names,
      not_remembered: z.string().nullable().meta({
        description: 'Why a daemon that begins anew would not know of it, such as a full disk. Null: it would.',
      }),
    }),
  ),
  'What was asked of whom. The outcome is in the status and in the events.',
  { schema_version: 1, action: 'restart', components: ['api'], not_remembered: null },
);

export const HANDOVER = named(
  'Handover',
  z.strictObject({ schema_version: SCHEMA_VERSION, action: z.literal('handover') }),
  'The daemon ends; components go on.',
  { schema_version: 1, action: 'handover' },
);

export const VALIDATION = named(
  'Validation',
  viewOf<ValidationView>()(
    z.strictObject({
      schema_version: SCHEMA_VERSION,
      valid: z.boolean(),
      files: names.meta({ description: 'The configuration files, absolute.' }),
      components: names,
      problems: z.array(
        z.strictObject({
          file: z.string(),
          line: z.int(),
          column: z.int(),
          path: z.string().meta({ description: 'Dotted; empty for the file as a whole.' }),
          message: z.string(),
          hint: z.string().nullable(),
        }),
      ),
    }),
  ),
  'Whether the configuration files could be applied as they are now.',
  {
    schema_version: 1,
    valid: false,
    files: ['/srv/shop/keepwell.yaml'],
    components: [],
    problems: [
      {
        file: '/srv/shop/keepwell.yaml',
        line: 3,
        column: 5,
        path: 'components.api.proces',
        message: '"proces" is not known here',
        hint: 'Did you mean "process"?',
      },
    ],
  },
);

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
    summary,
    success: 202,
    query: NO_QUERY,
    body: SOME_NAMES,
    answer: ACTION,
    errors: ['NO_SUCH_COMPONENT', ...CLOSING],
    handler: ({ services, body }) => services.control[action](body.components),
  });

export const actionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/up',
    id: 'up',
    summary: 'Applies the configuration as it is now and wants the named components (default: all) running.',
    success: 202,
    query: NO_QUERY,
    body: UP_BODY,
    answer: UP,
    errors: ['NO_SUCH_COMPONENT', 'CONFIG_INVALID', 'CONFIG_FILES_DIFFER', ...CLOSING],
    handler: ({ services, body }) => services.control.up(body.components ?? [], body.files ?? []),
  }),
  route({
    method: 'POST',
    path: '/v1/reload',
    id: 'reload',
    summary:
      'Applies the configuration as it is now; what is new is started. A mistake in it leaves everything as it was. With dry_run it only says what it would do.',
    success: 200,
    query: NO_QUERY,
    body: RELOAD_BODY,
    answer: RELOADED,
    errors: ['CONFIG_INVALID', ...CLOSING],
    handler: ({ services, body }) => services.control.reload({ dryRun: body.dry_run ?? false }),
  }),
  route({
    method: 'GET',
    path: '/v1/validate',
    id: 'validate',
    summary:
      'Whether the configuration files could be applied as they are now, and every problem if not. Changes nothing.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: VALIDATION,
    errors: [],
    handler: ({ services }) => services.control.validate(),
  }),
  forNamed('start', 'Wants the named components running.'),
  forNamed('stop', 'Wants the named components stopped, and remembers that it was by hand.'),
  route({
    method: 'POST',
    path: '/v1/restart',
    id: 'restartComponents',
    summary: 'Ends the current run of the named components and begins a new one.',
    success: 202,
    query: NO_QUERY,
    body: RESTART_BODY,
    answer: ACTION,
    errors: ['NO_SUCH_COMPONENT', ...CLOSING],
    handler: ({ services, body }) => services.control.restart(body.components, { recreate: body.recreate ?? false }),
  }),
  route({
    method: 'POST',
    path: '/v1/down',
    id: 'down',
    summary:
      'Stops every component in reverse order, then ends the daemon. With remove, the stopped containers and the networks that were made for the project go, too; volumes stay.',
    success: 202,
    query: NO_QUERY,
    body: DOWN_BODY,
    answer: ACTION,
    errors: CLOSING,
    handler: ({ services, body }) => services.control.down({ remove: body.remove ?? false }),
  }),
  route({
    method: 'POST',
    path: '/v1/handover',
    id: 'handover',
    summary: 'Ends the daemon and touches no component: the next daemon adopts them.',
    success: 202,
    query: NO_QUERY,
    body: EMPTY_BODY,
    answer: HANDOVER,
    errors: [],
    handler: ({ services }) => {
      services.control.handover();
      return { ...V1, action: 'handover' as const };
    },
  }),
];
