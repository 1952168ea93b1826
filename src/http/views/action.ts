/** The answers to what was asked for, as schemas. */
import { z } from 'zod';
import type { ActionView, AppliedView, UpView, ValidationView } from '../../ports/control.ts';
import { named, SCHEMA_VERSION, viewOf } from './view.ts';

const names = z.array(z.string());
const appliedFields = { added: names, changed: names, removed: names, unchanged: names };
const exampleApplied = { added: ['worker'], changed: [], removed: [], unchanged: ['api'] };

const APPLIED = named(
  'Applied',
  viewOf<AppliedView>()(z.strictObject(appliedFields)),
  'What applying the configuration changed, by component.',
);

export const UP = named(
  'Up',
  viewOf<UpView>()(z.strictObject({ schema_version: SCHEMA_VERSION, applied: APPLIED, components: names })),
  'What was applied, and which components are wanted now, in start order.',
  { schema_version: 1, applied: exampleApplied, components: ['api', 'worker'] },
);

export const RELOADED = named(
  'Reloaded',
  viewOf<AppliedView & { readonly schema_version: 1 }>()(
    z.strictObject({ schema_version: SCHEMA_VERSION, ...appliedFields }),
  ),
  'What applying the configuration changed, by component.',
  { schema_version: 1, ...exampleApplied },
);

export const ACTION = named(
  'Action',
  viewOf<ActionView>()(
    z.strictObject({
      schema_version: SCHEMA_VERSION,
      action: z.enum(['start', 'stop', 'restart', 'down']),
      components: names,
    }),
  ),
  'What was asked of whom. The outcome is in the status and in the events.',
  { schema_version: 1, action: 'restart', components: ['api'] },
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
