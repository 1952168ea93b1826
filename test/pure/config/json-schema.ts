/** Just enough of JSON Schema 2020-12 to try our own: a keyword it does not know is an error and never ignored. */

export type Schema = Readonly<Record<string, unknown>>;
type Keyword = (value: unknown, argument: unknown, schema: Schema, root: Schema) => boolean;

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const schemas = (argument: unknown): readonly Schema[] => argument as readonly Schema[];
const fits = (pattern: unknown, text: string): boolean => new RegExp(pattern as string, 'u').test(text);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isMap,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
};

const ALWAYS: Keyword = () => true;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...{ $schema: ALWAYS, $id: ALWAYS, $defs: ALWAYS, title: ALWAYS, description: ALWAYS, default: ALWAYS },
  ...{ examples: ALWAYS, id: ALWAYS },
  $ref: (value, name, _, root) =>
    accepts(value, (root['$defs'] as Record<string, Schema>)[String(name).replace('#/$defs/', '')]!, root),
  type: (value, name) => TYPES[name as string]!(value),
  const: (value, wanted) => value === wanted,
  enum: (value, words) => (words as readonly unknown[]).includes(value),
  anyOf: (value, options, _, root) => schemas(options).some((option) => accepts(value, option, root)),
  oneOf: (value, options, _, root) => schemas(options).filter((option) => accepts(value, option, root)).length === 1,
  not: (value, other, _, root) => !accepts(value, other as Schema, root),
  pattern: (value, pattern) => typeof value !== 'string' || fits(pattern, value),
  minLength: (value, least) => typeof value !== 'string' || value.length >= (least as number),
  maxLength: (value, most) => typeof value !== 'string' || value.length <= (most as number),
  minimum: (value, least) => typeof value !== 'number' || value >= (least as number),
  maximum: (value, most) => typeof value !== 'number' || value <= (most as number),
  minItems: (value, least) => !Array.isArray(value) || value.length >= (least as number),
  items: (value, item, _, root) => !Array.isArray(value) || value.every((each) => accepts(each, item as Schema, root)),
  minProperties: (value, least) => !isMap(value) || Object.keys(value).length >= (least as number),
  required: (value, keys) => !isMap(value) || (keys as readonly string[]).every((key) => Object.hasOwn(value, key)),
  properties: (value, shape, _, root) =>
    !isMap(value) ||
    Object.entries(shape as Record<string, Schema>).every(
      ([key, schema]) => !Object.hasOwn(value, key) || accepts(value[key], schema, root),
    ),
  propertyNames: (value, name, _, root) =>
    !isMap(value) || Object.keys(value).every((key) => accepts(key, name as Schema, root)),
  additionalProperties: (value, rest, { properties = {} }, root) => {
    if (!isMap(value)) return true;
    const others = Object.keys(value).filter((key) => !Object.hasOwn(properties as object, key));
    return others.every((key) => rest !== false && accepts(value[key], rest as Schema, root));
  },
};

export function accepts(value: unknown, schema: Schema, root: Schema = schema): boolean {
  return Object.entries(schema).every(([keyword, argument]) => {
    const check = KEYWORDS[keyword];
    if (!check) throw new Error(`the keyword ${keyword} is not known here`);
    return check(value, argument, schema, root);
  });
}
