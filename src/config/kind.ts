/** What every kind (of a probe, a check, a channel, a tracker) says about how it is written in a configuration. */

import { z } from 'zod';
import type { Draft, Say } from './draft.ts';
import { exactlyOne } from './leaves.ts';
import type { Mistake, Path, TreeNode } from './tree.ts';
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

/** A kind of entry in a list, such as `alerts.channels`: the one key of the entry names it. */
export interface EntryKind<S extends z.ZodType> extends WrittenKind<S> {
  /** What others call it: without case, dashes and underscores, as all words of others. */
  readonly words: readonly string[];
  /** What others call each of its keys. */
  readonly inside: Readonly<Record<keyof ConfigOf<S>, readonly string[]>>;
  /** Keys that people expect here and that there are not, each with what to do instead. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Says what could not work the way it is written. `written`: as it stands in the file, at `path`. */
  check?(config: Draft<ConfigOf<S>>, written: TreeNode | undefined, path: Path, say: Say): void;
  /** Where it leads to: a second entry that leads there is refused. Undefined: that is not known, or does no harm. */
  place(config: Draft<ConfigOf<S>>): string | undefined;
}

/** One of them, whichever. */
export type AnyEntryKind = EntryKind<z.ZodType>;

/** A registry: each kind under the name that is the `kind` of what it resolves to. */
export const namedKinds = <
  Kinds extends { readonly [K in keyof Kinds]: { resolve(...given: never): { readonly kind: K } } },
>(
  kinds: Kinds,
): Kinds => kinds;

/** What an entry of any of these kinds is resolved to. */
export type ResolvedBy<Kinds> = {
  [K in keyof Kinds]: Kinds[K] extends { resolve(...given: never): infer Spec } ? Spec : never;
}[keyof Kinds];

/** The schema of an entry: a map with exactly one of the kinds, and what else is said beside it. */
export const entrySchema = <
  Kinds extends Readonly<Record<string, { readonly schema: z.ZodType }>>,
  Beside extends z.ZodRawShape = Record<never, never>,
>(
  kinds: Kinds,
  beside = {} as Beside,
) => exactlyOne(z.strictObject({ ...schemasOf(kinds), ...beside }), keysOf(kinds));

/** The kind of an entry, and what is written about it. Exactly one is there, or something would have been reported. */
export function kindOfEntry<Kind>(
  kinds: Readonly<Record<string, Kind>>,
  entry: Readonly<Record<string, unknown>>,
): readonly [kind: Kind, config: never] {
  const key = keysOf(kinds).find((name) => entry[name] !== undefined)!;
  return [kinds[key]!, entry[key] as never];
}
