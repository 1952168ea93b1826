/** What `keepwell schema` prints, for editors and other programs. */
import { z } from 'zod';
import type { Help } from './leaves.ts';
import { configSchema } from './shape.ts';

const ID = 'urn:keepwell:schema:config:1';

/** JSON Schema, draft 2020-12. It says less than `keepwell validate`: cycles and impossible combinations need the whole picture. */
export function jsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any', // leaves are read by our own readers; what they accept stands in their metadata
    override: ({ jsonSchema: out }) => useStandardWords(out),
  });
  return { $schema, $id: ID, title: 'Keepwell configuration', ...rest };
}

/** zod drops a `default` that stands on the input side of a transformation, so ours travels under another name. */
function useStandardWords(out: Record<string, unknown>): void {
  const { defaultsTo, example, exactlyOne, atLeastOne } = out as Partial<Help> & {
    readonly exactlyOne?: readonly string[];
    readonly atLeastOne?: readonly string[];
  };
  for (const ours of OURS) delete out[ours];
  if (defaultsTo !== undefined) out['default'] = defaultsTo;
  if (example !== undefined) out['examples'] = [example];
  if (exactlyOne !== undefined) out['oneOf'] = exactlyOne.map((key) => ({ required: [key] }));
  if (atLeastOne !== undefined)
    out['anyOf'] = atLeastOne.map((key) => ({ required: [key], properties: { [key]: { minProperties: 1 } } }));
}

const OURS = [
  'defaultsTo',
  'defaultNote',
  'example',
  'kind',
  'sameKeysAs',
  'describesItems',
  'exactlyOne',
  'atLeastOne',
];
