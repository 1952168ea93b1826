/**
 * The configuration as a schema: names, kinds, help texts. The JSON Schema (`schema.ts`) and the reference page (`describe.ts`) are
 * generated from it, and `walk.ts` reads files by it.
 */
import { z } from 'zod';
import { NAME_PATTERN } from '../core/ids.ts';
import { DEFAULTS } from './defaults.ts';
import { DURATION_PATTERN, durationText } from './duration.ts';
import { FOREIGN_CONDITIONS, FOREIGN_POLICIES } from './hints/vocabulary.ts';
import * as read from './readers.ts';
import { FATAL_SIGNALS, STOP_SIGNALS } from './signals.ts';
import { inWords } from './text.ts';
import type { TreeNode } from './tree.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface Help {
  readonly description: string;
  /** In the syntax of the configuration. */
  readonly defaultsTo?: Json;
  /** For a default that is not one value. */
  readonly defaultNote?: string;
  readonly example?: Json;
}

/**
 * Leaves are read from tree nodes, not from plain values: their hints need the text as it was written. `kind` is the type in the
 * words of the reference page.
 */
function leaf<T>(reader: read.Reader<T>, kind: string, json: Record<string, unknown>) {
  const schema = z.custom<TreeNode>().transform((node, context): T => {
    const reading = reader(node);
    if ('value' in reading) return reading.value;
    context.addIssue({ code: 'custom', message: reading.message, params: { hint: reading.hint } });
    return z.NEVER;
  });
  return schema.meta({ kind, ...json });
}

/** A value may come from a variable, which a JSON Schema cannot look into. Keys may not. */
const orVariable = (json: Record<string, unknown>) => ({ type: 'string', anyOf: [json, { pattern: '\\$\\{' }] });
const inTicks = (words: readonly string[]): string =>
  inWords(
    words.map((word) => `\`${word}\``),
    'or',
  );

const text = leaf(read.readText, 'text', { type: 'string' });
const path = leaf(read.readPath, 'path', { type: 'string', minLength: 1 });
const boolean = leaf(read.readBoolean, inTicks(['true', 'false']), { type: 'boolean' });
const nameJson = { pattern: NAME_PATTERN.source };
const name = leaf(read.readName, 'name', orVariable(nameJson));
const nameKey = leaf(read.readName, 'name', { id: 'name', type: 'string', ...nameJson });
const envName = leaf(read.readEnvName, 'text', { id: 'variable-name', type: 'string', pattern: '^[^=\\u0000]+$' });
const durationJson = { pattern: DURATION_PATTERN.source };
const duration = leaf(read.readDuration({ zero: true }), 'duration', { id: 'duration', ...orVariable(durationJson) });
const positiveDuration = leaf(read.readDuration({ zero: false }), 'duration', {
  id: 'duration-above-zero',
  ...orVariable({ ...durationJson, not: { pattern: '^[0dhms]+$' } }),
});
const retry = leaf(read.readDurationOrNever, 'duration or `never`', {
  ...orVariable({ pattern: `^never$|${DURATION_PATTERN.source}`, not: { pattern: '^[0dhms]+$' } }),
});
const stopSignal = leaf(read.readStopSignal, 'signal', orVariable({ enum: [...STOP_SIGNALS] }));
const death = leaf(read.readDeath, 'exit code or signal', {
  anyOf: [{ type: 'integer', minimum: 1, maximum: 255 }, orVariable({ enum: [...FATAL_SIGNALS] })],
});
const number = (range: { min: number; max: number; whole?: boolean }) =>
  leaf(read.readNumber(range), `${range.whole ? 'whole number' : 'number'} from ${range.min} to ${range.max}`, {
    type: range.whole ? 'integer' : 'number',
    minimum: range.min,
    maximum: range.max,
  });
const oneOf = <const T extends string>(words: readonly T[], foreign: Readonly<Record<string, T>>) =>
  leaf(read.readOneOf(words, foreign), inTicks(words), orVariable({ enum: [...words] }));

const optional = <S extends z.ZodType>(schema: S, help: Help) => schema.optional().meta({ ...help });

const processSchema = z.strictObject({
  command: z.union([z.array(text), text]).meta({
    description:
      'The program and its arguments, one list item each. Nothing is split, globbed or expanded by a shell. One text instead of a list only with `shell: true`.',
    example: ['./bin/server', '--port', '7234'],
  }),
  shell: optional(boolean, {
    description:
      'Run the command, given as one text, with `/bin/sh -c`. Variables are put into the text before the shell reads it: pass what is not yours through `env` instead.',
    defaultsTo: DEFAULTS.process.shell,
    example: true,
  }),
  cwd: optional(path, {
    description: 'The working directory, relative to the folder of the first configuration file.',
    defaultNote: 'the folder of the first configuration file',
    example: './server',
  }),
  env: optional(z.record(envName, text), {
    description: 'Variables for the process, over those of `env_file`. Values are text: put numbers in quotes.',
    defaultsTo: {},
    example: { LOG_LEVEL: 'info', PORT: '7234' },
  }),
  env_file: optional(z.union([z.array(path), path]), {
    description:
      'A file of KEY=value lines, or a list of them (later ones win). Read again at each start; a start fails when one is missing.',
    defaultNote: 'none',
    example: '.env',
  }),
});

const stopSchema = z.strictObject({
  signal: optional(stopSignal, {
    description: 'The signal that asks the component to end.',
    defaultsTo: DEFAULTS.stop.signal,
    example: 'SIGINT',
  }),
  grace: optional(duration, {
    description: 'How long it may take to end before the whole process tree gets SIGKILL.',
    defaultsTo: durationText(DEFAULTS.stop.graceMs),
    example: '30s',
  }),
});

const { backoff, limit } = DEFAULTS.restart;

const backoffSchema = z.strictObject({
  initial: optional(duration, {
    description: 'The wait before the first restart.',
    defaultsTo: durationText(backoff.initialMs),
    example: '500ms',
  }),
  factor: optional(number({ min: 1, max: 100 }), {
    description: 'Each further wait is this many times longer.',
    defaultsTo: backoff.factor,
    example: 1.5,
  }),
  max: optional(duration, {
    description: 'No wait is longer than this. Not below `initial`.',
    defaultsTo: durationText(backoff.maxMs),
    example: '5m',
  }),
  jitter: optional(number({ min: 0, max: 1 }), {
    description:
      'Each wait is shortened by a random part of up to this ratio, so that not everything restarts at once.',
    defaultsTo: backoff.jitterRatio,
    example: 0.2,
  }),
  reset_after: optional(duration, {
    description: 'After running well for this long, the next wait starts at `initial` again.',
    defaultsTo: durationText(backoff.resetAfterMs),
    example: '30m',
  }),
});

const limitSchema = z.strictObject({
  max: optional(number({ min: 0, max: 1_000_000, whole: true }), {
    description:
      'How many restarts are allowed within the window before Keepwell gives up (so at most one run more than this).',
    defaultsTo: limit.max,
    example: 5,
  }),
  within: optional(positiveDuration, {
    description: 'The window in which restarts are counted.',
    defaultsTo: durationText(limit.withinMs),
    example: '1h',
  }),
  retry: optional(retry, {
    description: 'After giving up: one quiet attempt each time this has passed, or `never`.',
    defaultsTo: durationText(limit.retryMs),
    example: 'never',
  }),
});

const restartSchema = z.strictObject({
  policy: optional(oneOf(['always', 'on-failure', 'never'], FOREIGN_POLICIES), {
    description:
      'When to start it again: `always` after any end, `on-failure` after a failure, `never` not at all. What is stopped by hand stays stopped.',
    defaultsTo: DEFAULTS.restart.policy,
    example: 'on-failure',
  }),
  backoff: optional(backoffSchema, { description: 'How long to wait before a restart.' }),
  limit: optional(limitSchema, { description: 'How often at most.' }),
  never_on: optional(z.array(death), {
    description: 'Exit codes and signals after which it is not started again, whatever the policy.',
    defaultsTo: [],
    example: [78, 'SIGILL'],
  }),
  dependents: optional(boolean, {
    description: 'Restart the components that depend on this one after it has recovered.',
    defaultsTo: DEFAULTS.restart.dependents,
    example: true,
  }),
});

const uptime = DEFAULTS.minUptimeMs;

const componentSchema = z
  .strictObject({
    process: processSchema.meta({ description: 'The process to run.' }),
    stop: optional(stopSchema, { description: 'How to end it.' }),
    depends_on: optional(z.record(nameKey, oneOf(['started', 'ready', 'completed'], FOREIGN_CONDITIONS)), {
      description:
        'What must be there first: `started`, `ready`, or `completed` (ended with code 0; not possible for one whose restart policy is `always`).',
      defaultsTo: {},
      example: { database: 'ready', migrate: 'completed' },
    }),
    min_uptime: optional(duration, {
      description: 'A run that ends sooner is a failure, whatever its exit code. It does not delay `ready`.',
      defaultNote: `\`${durationText(uptime.always)}\` under \`policy: always\`, else \`${durationText(uptime.never)}\``,
      example: '5s',
    }),
    restart: optional(restartSchema, { description: 'When to start it again, how soon and how often.' }),
  })
  .meta({ id: 'component', kind: 'components' });

export const configSchema = z.strictObject({
  version: optional(leaf(read.readVersion, '`1`', { const: 1 }), {
    description: 'The version of this format.',
    defaultsTo: 1,
    example: 1,
  }),
  name: optional(name, {
    description: 'The name of the project, for people.',
    defaultNote: 'the name of the folder of the first configuration file',
    example: 'stigmer',
  }),
  components: z.record(nameKey, componentSchema).meta({
    description: 'What to keep running, by name.',
    minProperties: 1,
    example: { api: { process: { command: ['./bin/server'] } } },
  }),
});

export type Config = z.output<typeof configSchema>;
export type ComponentConfig = Config['components'][string];
