/** Ties a schema to the type it describes: the two cannot drift apart, because then this does not compile. */
import { z } from 'zod';

/** The JSON an answer is made of, with every modifier made equal so that types can be compared. */
export type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Plain<T[K]> }
    : T;

/** The same as it is handed out: what may be left out may be left out. */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Given<T[K]> }
    : T;

type Agrees<A, B> = [Plain<A>] extends [Plain<B>] ? ([Plain<B>] extends [Plain<A>] ? unknown : never) : never;

/** `viewOf<StatusView>()(z.strictObject({ … }))`: an error when either has a field, or a value of a field, that the other has not. */
export const viewOf =
  <View>() =>
  <Schema extends z.ZodType>(schema: Schema & Agrees<View, z.output<Schema>>): Schema =>
    schema;

/** The schemas that get a name of their own in the OpenAPI document. */
export const NAMED = z.registry<{ id: string }>();

/** Answers carry an example each; a test checks it against the schema. */
export function named<Schema extends z.ZodType>(
  id: string,
  schema: Schema,
  description: string,
  example?: object,
): Schema {
  const described = schema.meta({ description, ...(example === undefined ? {} : { examples: [example] }) });
  NAMED.add(described, { id });
  return described;
}

export const SCHEMA_VERSION = z.literal(1).meta({ description: 'Fields may be added; none changes or goes away.' });
export const TIME = z.iso.datetime().meta({ description: 'UTC, ISO 8601.' });
export const COUNT = z.int().min(0);
