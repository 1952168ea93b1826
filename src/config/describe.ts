/** Every key of the configuration as a row for the reference page, and where in a component each key lives. */
import { z } from 'zod';
import type { Help, Json } from './leaves.ts';
import { configSchema } from './shape.ts';

export interface KeyRow {
  /** `components.NAME.restart.policy`. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: Json | undefined;
  readonly defaultNote: string | null;
  readonly description: string;
  readonly example: Json | undefined;
}

export const inner = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodOptional ? inner(schema.unwrap() as z.ZodType) : schema;

export function describeConfig(): readonly KeyRow[] {
  return rows(configSchema, '');
}

export function rows(schema: z.ZodType, prefix: string): readonly KeyRow[] {
  if (schema instanceof z.ZodRecord) {
    const value = schema.valueType as z.ZodType;
    return value instanceof z.ZodObject ? rows(value, `${prefix}NAME.`) : [];
  }
  if (schema instanceof z.ZodUnion) {
    const map = optionFor(schema, 'map');
    return map instanceof z.ZodObject ? rows(map, prefix) : [];
  }
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, field]) => [
    row(field, `${prefix}${key}`),
    ...(helpOf(field)?.describesItems
      ? rows((inner(field) as z.ZodArray).element as z.ZodType, `${prefix}${key}[].`)
      : []),
    ...(helpOf(field)?.sameKeysAs === undefined ? rows(inner(field), `${prefix}${key}.`) : []),
  ]);
}

const helpOf = (field: z.ZodType): Help | undefined => field.meta() as Help | undefined;

function row(field: z.ZodType, path: string): KeyRow {
  const help = helpOf(field);
  return {
    path,
    type: typeName(inner(field)),
    required: !(field instanceof z.ZodOptional),
    default: help?.defaultsTo,
    defaultNote: help?.defaultNote ?? null,
    description: help?.description ?? '',
    example: help?.example,
  };
}

/**
 * Which way of writing a value this is. Every union has a single value, and a list or a map beside it; for a form it has not, the
 * single value is the one that says so.
 */
export function optionFor(schema: z.ZodUnion, form: 'list' | 'map' | 'scalar'): z.ZodType {
  const options = schema.options as readonly z.ZodType[];
  const formOf = (option: z.ZodType) =>
    option instanceof z.ZodArray ? 'list' : option instanceof z.ZodObject ? 'map' : 'scalar';
  return options.find((option) => formOf(option) === form) ?? options.find((option) => formOf(option) === 'scalar')!;
}

/** In words for people: "duration", "list of text", "`always`, `on-failure` or `never`". */
function typeName(schema: z.ZodType): string {
  if (schema instanceof z.ZodObject) return String(schema.meta()?.['kind'] ?? 'map');
  if (schema instanceof z.ZodRecord) return `map of names to ${typeName(schema.valueType as z.ZodType)}`;
  if (schema instanceof z.ZodArray) return `list of ${typeName(schema.element as z.ZodType)}`;
  if (schema instanceof z.ZodUnion) {
    const single = typeName(optionFor(schema, 'scalar'));
    return optionFor(schema, 'list') instanceof z.ZodArray ? `${single}, or a list of them` : `map, or ${single}`;
  }
  return String(schema.meta()?.['kind'] ?? 'value');
}

/** Key → its paths inside a component, for keys that were written one level too high or too low. */
export function componentKeys(): ReadonlyMap<string, readonly string[]> {
  const start = 'components.NAME.';
  const homes = new Map<string, string[]>();
  for (const { path } of describeConfig()) {
    if (!path.startsWith(start)) continue;
    const key = path.slice(path.lastIndexOf('.') + 1);
    homes.set(key, [...(homes.get(key) ?? []), path.slice(start.length)]);
  }
  return homes;
}
