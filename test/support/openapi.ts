/** The OpenAPI document as it is checked in, and whether a daemon keeps to it. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is there
type Any = any;

export const openapi = JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8')) as Any;

/** Readers must not mind keys that are new to them; but we must not send one that is not in the document. */
const strict = (value: Any): Any => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(strict);
  const entries = Object.entries(value).map(([key, inner]) => [key, key === 'examples' ? inner : strict(inner)]);
  return { ...Object.fromEntries(entries), ...(value.properties ? { additionalProperties: false } : {}) };
};

const inDefs = (schema: Any): Any =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/')) as Any;
const $defs = inDefs(strict(openapi.components.schemas));

/** What is wrong with a value, by a schema of the document. */
export const problemsWith = (schema: object, value: unknown): readonly unknown[] =>
  z.fromJSONSchema({ ...inDefs(strict(schema)), $defs }).safeParse(value).error?.issues ?? [];

/** The schema of the good answer of a route. */
export function answerSchema({ path, method, success }: { path: string; method: string; success: number }): object {
  const { content } = openapi.paths[path][method.toLowerCase()].responses[success];
  return Object.values<Any>(content)[0].schema;
}
