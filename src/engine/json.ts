/** JSON from outside: nothing about it is believed before it was looked at. */

export type Fields = Readonly<Record<string, unknown>>;

/** Null when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;

/** What the Engine says about a request that it refused; empty when it says nothing we understand. */
export function parseMessage(text: string): string {
  const message = fieldsOf(parseJson(text))?.['message'];
  return typeof message === 'string' ? message.trim() : '';
}

/** Empty when it is something else. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Only those entries that are text. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsOf(value) ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
