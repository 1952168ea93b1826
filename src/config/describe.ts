/** Every key of the configuration as a row for the reference page, and where in a component each key lives. */
import { z } from 'zod';
import { configSchema, type Help, type Json } from './shape.ts';

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

function rows(schema: z.ZodType, prefix: string): readonly KeyRow[] {
  if (schema instanceof z.ZodRecord) {
    const value = schema.valueType as z.ZodType;
    return value instanceof z.ZodObject ? rows(value, `${prefix}NAME.`) : [];
  }
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, field]) => [
    row(field, `${prefix}${key}`),
    ...rows(inner(field), `${prefix}${key}.`),
  ]);
}

function row(field: z.ZodType, path: string): KeyRow {
  const help = field.meta() as Help | undefined;
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

/** All our unions are "a list, or one value". */
export const singleOf = (schema: z.ZodUnion): z.ZodType =>
  (schema.options as readonly z.ZodType[]).find((option) => !(option instanceof z.ZodArray))!;
export const listOf = (schema: z.ZodUnion): z.ZodType =>
  (schema.options as readonly z.ZodType[]).find((option) => option instanceof z.ZodArray)!;

/** In words for people: "duration", "list of text", "`always`, `on-failure` or `never`". */
function typeName(schema: z.ZodType): string {
  if (schema instanceof z.ZodObject) return String(schema.meta()?.['kind'] ?? 'map');
  if (schema instanceof z.ZodRecord) return `map of names to ${typeName(schema.valueType as z.ZodType)}`;
  if (schema instanceof z.ZodArray) return `list of ${typeName(schema.element as z.ZodType)}`;
  if (schema instanceof z.ZodUnion) return `${typeName(singleOf(schema))}, or a list of them`;
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
