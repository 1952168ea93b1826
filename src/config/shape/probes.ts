/** The three probes as a schema: what is asked, how often, and how many answers count. */
import { z } from 'zod';
import { DEFAULTS } from '../defaults.ts';
import { durationText } from '../duration.ts';
import { type Reader, refuse, scalarReader } from '../readers.ts';
import { printable, shorten } from '../text.ts';
import { duration, exactlyOne, type Help, leaf, number, optional, positiveDuration } from '../leaves.ts';
import { item, LOG, QUESTIONS, silentItem } from '../questions.ts';

const DEFAULT = DEFAULTS.probe;

const allOf = <S extends z.ZodType>(item: S) =>
  optional(z.array(item).meta({ minItems: 1 }), {
    description: 'Several questions, all of which must pass. Each is a map with one question of the above.',
    defaultNote: 'none',
    example: [{ tcp: 7233 }, { http: { port: 8080 } }],
  });

const THRESHOLD = { min: 1, max: 1_000_000, whole: true } as const;

const timing = {
  period: optional(positiveDuration, {
    description:
      'From one question to the next. Never two at once: a question that is due while another is still open is skipped.',
    defaultsTo: durationText(DEFAULT.periodMs),
    example: '2s',
  }),
  timeout: optional(positiveDuration, {
    description: 'No answer within this time is a failure.',
    defaultsTo: durationText(DEFAULT.timeoutMs),
    example: '500ms',
  }),
  initial_delay: optional(duration, {
    description: 'From the start of the run to the first question. A `startup` probe is nearly always better.',
    defaultsTo: durationText(DEFAULT.initialDelayMs),
    example: '5s',
  }),
  failure_threshold: optional(number(THRESHOLD), {
    description: 'How many failures in a row make it fail.',
    defaultsTo: DEFAULT.failureThreshold,
    example: 5,
  }),
};

const successHelp: Help = {
  description: 'How many passes in a row make it pass. Only 1 for `startup` and `liveness`.',
  defaultsTo: DEFAULT.successThreshold,
  example: 2,
};

/** As in Kubernetes: one pass says that it has started, and one that it lives. */
const readOne: Reader<number> = scalarReader('1', ({ value, source }) =>
  value === 1
    ? { value }
    : refuse(
        `must be 1 for startup and liveness, not ${printable(shorten(source))}`,
        'Remove it; only readiness can ask for several passes in a row.',
      ),
);
const onePass = { success_threshold: optional(leaf(readOne, '`1`', { const: 1 }), { ...successHelp, example: 1 }) };
const anyPasses = { success_threshold: optional(number(THRESHOLD), successHelp) };

const kind = { kind: 'probe' };

export const startupSchema = exactlyOne(
  z.strictObject({ ...QUESTIONS, ...LOG, all_of: allOf(item), ...timing, ...onePass }),
  ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'log', 'all_of'],
).meta(kind);

/** Without `log`: a line that once was written says nothing about being alive now. */
export const livenessSchema = exactlyOne(
  z.strictObject({ ...QUESTIONS, all_of: allOf(silentItem), ...timing, ...onePass }),
  ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'all_of'],
).meta(kind);

export const readinessSchema = exactlyOne(
  z.strictObject({ ...QUESTIONS, ...LOG, all_of: allOf(item), ...timing, ...anyPasses }),
  ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'log', 'all_of'],
).meta(kind);

export type ProbeConfig = z.output<typeof readinessSchema>;
