/** The JSON of the Engine. */
import { fieldsOf, parseJson } from '../base/pure/json.ts';

export { type Fields, fieldsOf, parseJson } from '../base/pure/json.ts';

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
