/** Single values of the configuration as schemas: how each is read, what it is called, and what a JSON Schema can say about it. */
import { z } from 'zod';
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { MAX_PATTERN_CHARS } from '../supervision/rules/health/pattern.ts';
import { DURATION_PATTERN } from './duration.ts';
import { readHeaderName, readHeaderValue } from './readers/http.ts';
import { PORTS, readDatabaseAddress, readHost, readPort, readTarget, readWebAddress } from './readers/network.ts';
import * as read from './readers.ts';
import { FATAL_SIGNALS, STOP_SIGNALS } from './signals.ts';
import { SIZE_PATTERN, sizeText } from './size.ts';
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
  /** Its keys are described there and not again: `readiness`. */
  readonly sameKeysAs?: string;
  /** The keys of its items have rows of their own. */
  readonly describesItems?: true;
}

/**
 * Leaves are read from tree nodes, not from plain values: their hints need the text as it was written. `kind` is the type in the
 * words of the reference page.
 */
export function leaf<T>(reader: read.Reader<T>, kind: string, json: Record<string, unknown>) {
  const schema = z.custom<TreeNode>().transform((node, context): T => {
    const reading = reader(node);
    if ('value' in reading) return reading.value;
    context.addIssue({ code: 'custom', message: reading.message, params: { hint: reading.hint } });
    return z.NEVER;
  });
  return schema.meta({ kind, ...json });
}

/** A value may come from a variable, which a JSON Schema cannot look into. Keys may not. */
export const orVariable = (json: Record<string, unknown>) => ({
  type: 'string',
  anyOf: [json, { pattern: '\\$\\{' }],
});

export const inTicks = (words: readonly string[], last: 'or' | 'and' = 'or'): string =>
  inWords(
    words.map((word) => `\`${word}\``),
    last,
  );

export const text = leaf(read.readText, 'text', { type: 'string' });
/** Without blanks; what it holds is never shown. */
export const bareText = leaf(read.readBare, 'text', { type: 'string', minLength: 1 });
export const path = leaf(read.readPath, 'path', { type: 'string', minLength: 1 });
export const boolean = leaf(read.readBoolean, inTicks(['true', 'false']), { type: 'boolean' });
export const version = leaf(read.readVersion, '`1`', { const: 1 });

const nameJson = { pattern: NAME_PATTERN.source };
export const name = leaf(read.readName, 'name', orVariable(nameJson));
export const nameKey = leaf(read.readName, 'name', { id: 'name', type: 'string', ...nameJson });
export const envName = leaf(read.readEnvName, 'text', {
  id: 'variable-name',
  type: 'string',
  pattern: '^[^=\\u0000]+$',
});

export const containerName = leaf(read.readContainerName, 'name of a container', {
  id: 'container-name',
  type: 'string',
  pattern: '^[A-Za-z0-9][\\w.-]*$|\\$\\{',
});

const durationJson = { pattern: DURATION_PATTERN.source };
export const duration = leaf(read.readDuration({ zero: true }), 'duration', {
  id: 'duration',
  ...orVariable(durationJson),
});
export const positiveDuration = leaf(read.readDuration({ zero: false }), 'duration', {
  id: 'duration-above-zero',
  ...orVariable({ ...durationJson, not: { pattern: '^[0dhms]+$' } }),
});
const orNever = (what: string) =>
  leaf(read.readDurationOrNever(what), 'duration or `never`', {
    ...orVariable({ pattern: `^never$|${DURATION_PATTERN.source}`, not: { pattern: '^[0dhms]+$' } }),
  });
export const dayTime = leaf(
  read.readDayTime,
  'time of day',
  orVariable({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' }),
);
export const timeZone = leaf(read.readTimeZone, 'time zone', { type: 'string', minLength: 1 });
export const retry = orNever('retry');
export const reminder = orNever('reminder');

export const size = (minBytes: number) =>
  leaf(read.readSize({ minBytes, min: sizeText(minBytes) }), 'size', orVariable({ pattern: SIZE_PATTERN.source }));
export const umask = leaf(read.readUmask, 'octal number in quotes', orVariable({ pattern: '^0?[0-7]{3}$' }));
export const account = leaf(read.readAccount, 'name or number', {
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'integer', minimum: 0 },
  ],
});

export const portJson = { type: 'integer', minimum: PORTS.min, maximum: PORTS.max };
export const port = leaf(readPort, `port (${PORTS.min} to ${PORTS.max})`, {
  id: 'port',
  anyOf: [portJson, { type: 'string', pattern: '\\$\\{' }],
});
export const host = leaf(readHost, 'host', { type: 'string', minLength: 1 });

/** A port or `host:port`. */
export const addressJson = {
  anyOf: [portJson, { type: 'string', pattern: '^[^/]+:[0-9]+$|^[0-9]+$|\\$\\{' }],
};

/** What is posted to. */
export const target = leaf(readTarget, 'URL', orVariable({ pattern: '^https?://' }));
/** A PostgreSQL database; holds a password. */
export const databaseAddress = leaf(readDatabaseAddress, 'URL', orVariable({ pattern: '^postgres(?:ql)?://' }));
/** The same, and other paths are put behind it. */
export const webAddress = leaf(readWebAddress, 'URL', orVariable({ pattern: '^https?://' }));
export const headers = z.record(
  leaf(readHeaderName, 'text', { type: 'string', minLength: 1 }),
  leaf(readHeaderValue, 'text', { type: 'string' }),
);

export const patternJson = { type: 'string', pattern: '\\S', maxLength: MAX_PATTERN_CHARS };
export const pattern = leaf(read.readPattern, 'pattern', { id: 'pattern', ...patternJson });

export const stopSignal = leaf(read.readStopSignal, 'signal', orVariable({ enum: [...STOP_SIGNALS] }));
export const death = leaf(read.readDeath, 'exit code or signal', {
  anyOf: [{ type: 'integer', minimum: 1, maximum: 255 }, orVariable({ enum: [...FATAL_SIGNALS] })],
});

export const number = (range: { min: number; max: number; whole?: boolean }) =>
  leaf(read.readNumber(range), `${range.whole ? 'whole number' : 'number'} from ${range.min} to ${range.max}`, {
    type: range.whole ? 'integer' : 'number',
    minimum: range.min,
    maximum: range.max,
  });

export const oneOf = <const T extends string>(words: readonly T[], foreign: Readonly<Record<string, T>>) =>
  leaf(read.readOneOf(words, foreign), inTicks(words), orVariable({ enum: [...words] }));

export const optional = <S extends z.ZodType>(schema: S, help: Help) => schema.optional().meta({ ...help });

/** A map of which exactly one of `keys` must be given. */
export const exactlyOne = <S extends z.ZodObject>(schema: S, keys: readonly (keyof S['shape'] & string)[]): S =>
  schema.meta({ exactlyOne: keys });

/** A map of which at least one of `keys` must be given; the first is the usual one. */
export const atLeastOne = <S extends z.ZodObject>(schema: S, keys: readonly (keyof S['shape'] & string)[]): S =>
  schema.meta({ atLeastOne: keys });

export const neededOf = (schema: z.ZodType): readonly string[] => {
  const keys = schema.meta()?.['atLeastOne'];
  return Array.isArray(keys) ? keys : [];
};

export const choiceOf = (schema: z.ZodType): readonly string[] => {
  const keys = schema.meta()?.['exactlyOne'];
  return Array.isArray(keys) ? keys : [];
};
