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

// What the JSON we write holds, where that is narrower than what TypeScript can say. The OpenAPI document is made from these names.

/** UTC, ISO 8601. */
export type IsoTime = string;

/** A whole number, 0 or more. */
export type Count = number;

/** A whole number. */
export type WholeNumber = number;

/** A number, 0 or more. */
export type Amount = number;

const MAX_DATE = 8.64e15;

/** A time beyond all calendars becomes the first of 1970. */
export const isoTime = (at: number): IsoTime => new Date(Math.abs(at) <= MAX_DATE ? at : 0).toISOString();
