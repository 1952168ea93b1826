/** The answers to what was asked for, as schemas. */
import { z } from 'zod';
import type { AppliedView, PlanStep } from '../../supervision/rules/plan.ts';
import type { ActionView, ReloadView, UpView, ValidationView } from '../control.ts';
import { named, SCHEMA_VERSION, viewOf } from './view.ts';

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
