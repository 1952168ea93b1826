/** What the daemon says about itself, and what every error looks like. */
import { z } from 'zod';
import { ERRORS, type ErrorCode, type ErrorView } from '../../base/pure/errors.ts';
import { named, SCHEMA_VERSION, viewOf } from './view.ts';

export const VERSION_ANSWER = named(
  'Version',
  z.strictObject({ schema_version: SCHEMA_VERSION, version: z.string() }),
  'The version of the running daemon.',
  { schema_version: 1, version: '0.1.0' },
);

export const ALIVE = named(
  'Alive',
  z.strictObject({ schema_version: SCHEMA_VERSION, status: z.literal('ok') }),
  'It answers.',
  { schema_version: 1, status: 'ok' },
);

export const READY = named(
  'Ready',
  z.strictObject({
    schema_version: SCHEMA_VERSION,
    status: z.enum(['ok', 'not-ready']),
    reasons: z.array(z.string()).meta({ description: 'Why it is not ready; empty when it is.' }),
    store: z
      .string()
      .nullable()
      .meta({ description: '"ok", or what is wrong with the history. That does not make it unready.' }),
    components: z.int().meta({ description: 'How many it looks after.' }),
  }),
  'Whether it supervises.',
  { schema_version: 1, status: 'ok', reasons: [], store: 'ok', components: 3 },
);

export const DOCUMENT = z.record(z.string(), z.unknown()).meta({ description: 'This document.' });

export const ERROR = named(
  'Error',
  viewOf<ErrorView>()(
    z.strictObject({
      error: z.strictObject({
        code: z.string().meta({ description: 'For programs; docs/reference/errors.md lists them all.' }),
        message: z.string().meta({ description: 'For people; it may change.' }),
        hint: z.string().meta({ description: 'What to do; it may change.' }),
        details: z.record(
          z.string(),
          z.union([z.string(), z.number(), z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()])))]),
        ),
      }),
    }),
  ),
  'What went wrong.',
  {
    error: {
      code: 'NO_SUCH_COMPONENT' satisfies ErrorCode,
      message: 'There is no component "ap". Did you mean "api"?',
      hint: ERRORS.NO_SUCH_COMPONENT.hint,
      details: { name: 'ap', suggestion: ' Did you mean "api"?' },
    },
  },
);
