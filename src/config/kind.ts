/** What every kind (of a probe, a check, a channel, a tracker) says about how it is written in a configuration. */

import type { z } from 'zod';
import type { Mistake } from './tree.ts';
import type { Form } from './words/argv.ts';

export type ConfigOf<S extends z.ZodType> = NonNullable<z.output<S>>;

type RequiredKeys<T> = T extends object ? keyof { [K in keyof T as undefined extends T[K] ? never : K]: true } : never;

export interface WrittenKind<S extends z.ZodType> {
  /** With its short form, its help text and an example. */
  readonly schema: S;
  /** What is said when a key that it needs is not there. */
  readonly missing: Readonly<Record<RequiredKeys<ConfigOf<S>>, Mistake>>;
  /** Values in the shape that others give them, by key; `''`: the whole. */
  readonly forms?: Readonly<Record<string, Form>>;
}

/** What all kinds say about their keys, by place: `PROBE.http.headers`. */
export const perKind = <Kind, T>(
  kinds: Readonly<Record<string, Kind>>,
  place: string,
  part: (kind: Kind) => Readonly<Record<string, T>> | undefined,
): Readonly<Record<string, T>> =>
  Object.fromEntries(
    Object.entries(kinds).flatMap(([name, kind]) =>
      Object.entries(part(kind) ?? {}).map(([key, value]) => [
        [place, name, key].filter((step) => step !== '').join('.'),
        value,
      ]),
    ),
  );

/** The schemas of all kinds, as the keys of a map of which one is given. */
export const schemasOf = <Kinds extends Readonly<Record<string, { readonly schema: z.ZodType }>>>(kinds: Kinds) =>
  Object.fromEntries(Object.entries(kinds).map(([name, { schema }]) => [name, schema])) as {
    [K in keyof Kinds]: Kinds[K]['schema'];
  };

export const keysOf = <Fields extends object>(fields: Fields) => Object.keys(fields) as (keyof Fields & string)[];
