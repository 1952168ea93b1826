/** Probes as a schema, and complete: every default filled in, every path absolute, every command an argv. */

import { z } from 'zod';
import type { ProbeHome } from '../probes/kind.ts';
import { PROBE_KINDS } from '../probes/kinds.ts';
import {
  looksAt,
  type ProbeQuestion,
  type ProbeSpec,
  type ProbesSpec,
  type QUESTION_KINDS,
  type QuestionKind,
} from '../supervision/rules/health/probe.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { keysOf } from './kind.ts';
import { duration, exactlyOne, type Help, leaf, number, optional, positiveDuration } from './leaves.ts';
import { type Reader, refuse, scalarReader } from './readers.ts';
import { printable, shorten } from './text.ts';

// What can be asked, and where.

type ProbeSubject = (typeof QUESTION_KINDS)[QuestionKind]['looksAt'];
type KindsThat<Look extends ProbeSubject> = {
  [K in QuestionKind]: (typeof QUESTION_KINDS)[K]['looksAt'] extends Look ? K : never;
}[QuestionKind];

/** Those that look at nothing else of a run, as keys of a map. */
function questions<Look extends ProbeSubject>(...looks: readonly Look[]) {
  const fields = Object.entries(PROBE_KINDS)
    .filter(([kind]) => (looks as readonly ProbeSubject[]).includes(looksAt(kind)))
    .map(([kind, { schema }]) => [kind, schema]);
  return Object.fromEntries(fields) as { [K in KindsThat<Look>]: (typeof PROBE_KINDS)[K]['schema'] };
}

const QUESTIONS = questions(null, 'process', 'output');
/** A line that once was written says nothing about being alive now. */
const QUESTIONS_OF_LIVENESS = questions(null, 'process');
/** A check is about no run, so it can ask neither for a process of it nor for what it wrote. */
export const QUESTIONS_OF_CHECKS = questions(null);

/** A question by itself, as it stands in `all_of`. */
const question = z.strictObject(QUESTIONS);
export type QuestionConfig = z.output<typeof question>;

const item = exactlyOne(question, keysOf(QUESTIONS)).meta({ id: 'question', kind: 'questions' });
const itemOfLiveness = exactlyOne(z.strictObject(QUESTIONS_OF_LIVENESS), keysOf(QUESTIONS_OF_LIVENESS)).meta({
  id: 'liveness-question',
  kind: 'questions',
});

/** Exactly one of them is there, or something would have been reported. */
export function questionSpec(config: QuestionConfig, home: ProbeHome): ProbeQuestion {
  const key = keysOf(PROBE_KINDS).find((kind) => config[kind] !== undefined)!;
  return PROBE_KINDS[key].resolve(config[key] as never, home);
}

export function probesSpec(config: ProbesConfig, home: ProbeHome): ProbesSpec {
  const { startup, readiness, crash_patterns: patterns = [] } = config;
  // Hits are failed liveness answers, so somebody must ask about liveness, or a hit of last week would never be forgiven.
  const liveness = config.liveness ?? (patterns.length > 0 ? { pid: {} } : undefined);
  return {
    startup: startup ? probeSpec(startup, home) : null,
    liveness: liveness ? probeSpec(liveness, home) : null,
    readiness: readiness ? probeSpec(readiness, home) : null,
  };
}

/** What a component says about its probes. */
interface ProbesConfig {
  readonly startup?: z.output<typeof startupSchema> | undefined;
  readonly liveness?: z.output<typeof livenessSchema> | undefined;
  readonly readiness?: z.output<typeof readinessSchema> | undefined;
  readonly crash_patterns?: readonly string[] | undefined;
}

type OneProbeConfig = z.output<typeof readinessSchema> | z.output<typeof livenessSchema>;

function probeSpec(config: OneProbeConfig, home: ProbeHome): ProbeSpec {
  const { periodMs, timeoutMs, initialDelayMs, failureThreshold, successThreshold } = DEFAULTS.probe;
  const items: readonly QuestionConfig[] | undefined = config.all_of;
  return {
    question: items
      ? { kind: 'all_of', all: items.map((item) => questionSpec(item, home)) }
      : questionSpec(config as QuestionConfig, home),
    periodMs: config.period ?? periodMs,
    timeoutMs: config.timeout ?? timeoutMs,
    initialDelayMs: config.initial_delay ?? initialDelayMs,
    failureThreshold: config.failure_threshold ?? failureThreshold,
    successThreshold: config.success_threshold ?? successThreshold,
  };
}

// The three probes as a schema: what is asked, how often, and how many answers count.

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

/** Exactly one question, how often it is asked, and how many answers count. */
const probe = <Asked extends z.ZodRawShape, Passes extends z.ZodRawShape>(asked: Asked, passes: Passes) =>
  exactlyOne(z.strictObject({ ...asked, ...timing, ...passes }), keysOf(asked)).meta({ kind: 'probe' });

export const startupSchema = probe({ ...QUESTIONS, all_of: allOf(item) }, onePass);
export const livenessSchema = probe({ ...QUESTIONS_OF_LIVENESS, all_of: allOf(itemOfLiveness) }, onePass);
export const readinessSchema = probe({ ...QUESTIONS, all_of: allOf(item) }, anyPasses);

export type ProbeConfig = z.output<typeof readinessSchema>;
