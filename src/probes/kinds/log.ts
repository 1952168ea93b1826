/** Passes for good once a line of the output fits a pattern. Who reads the output is in `log/`. */

import { z } from 'zod';
import { leaf, optional, pattern, patternJson } from '../../config/leaves.ts';
import { readAs, readPattern, refuse } from '../../config/readers.ts';
import { row, scalarText } from '../../config/words/argv.ts';
import type { ProbeKind } from '../kind.ts';

const map = z
  .strictObject({
    pattern: pattern.meta({
      description: 'The text that a line must contain, or the /regular expression/ that it must match.',
      example: 'ready',
    }),
  })
  .meta({ id: 'probe-log' });

const short = leaf(
  readAs(readPattern, (pattern) => ({ pattern })),
  'pattern',
  patternJson,
);

const schema = optional(z.union([map, short]), {
  description:
    'Passes for good once a line of the output contains this text or matches this /regular expression/. Not for `liveness`, see `crash_patterns`.',
  defaultNote: 'none',
  example: 'Server started',
});

const LOG = row('readiness.log', '"Server started"', '', scalarText);

export const log = {
  schema,
  missing: { pattern: refuse('the pattern is missing', 'Write: pattern: "Server started"') },
  resolve: ({ pattern }) => ({ kind: 'log', pattern }),
  words: { readylogline: LOG, logline: LOG, regex: LOG, regexp: LOG, line: LOG },
  open: ({ pattern }, { target, onNews, parts: { logs } }) => logs.open(pattern, target, onNews),
} satisfies ProbeKind<'log', typeof schema>;
