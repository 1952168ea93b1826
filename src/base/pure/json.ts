/** JSON from outside: nothing about it is believed before it was looked at. */

export type Fields = Readonly<Record<string, unknown>>;

/** Undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null when it is something else. */
export const fieldsOf = (value: unknown): Fields | null => (isObject(value) ? value : null);
