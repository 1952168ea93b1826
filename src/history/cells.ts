/** Single values in and out of rows. Reading never throws: one odd cell must not hide the rest of the history. */
import { parseJson } from '../base/pure/json.ts';
import type { SqlValue } from '../base/sqlite.ts';

export { isObject } from '../base/pure/json.ts';

/** Text columns hold plain text. A NUL would cut the value off when it is read back on some drivers, so it is shown instead. */
export const text = (value: string): string => value.replaceAll('\0', '\u2400');
export const textOrNull = (value: string | null): string | null => (value === null ? null : text(value));

/** SQLite would make NULL of a NaN, and refuse the row. */
export const whole = (value: number): number => (Number.isFinite(value) ? Math.round(value) : 0);
export const wholeOrNull = (value: number | null): number | null => (value === null ? null : whole(value));

/** Data that cannot be put into JSON (a cycle, a bigint) is the caller's mistake, and no reason to lose the record around it. */
export function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    return JSON.stringify({ unserialisable: error instanceof Error ? error.message : String(error) });
  }
}

export const str = (cell: SqlValue | undefined): string => (typeof cell === 'string' ? cell : '');
export const strOrNull = (cell: SqlValue | undefined): string | null => (typeof cell === 'string' ? cell : null);
export const numOrNull = (cell: SqlValue | undefined): number | null =>
  typeof cell === 'bigint' || typeof cell === 'number' ? Number(cell) : null;
export const num = (cell: SqlValue | undefined): number => numOrNull(cell) ?? 0;

/** The JSON in a cell when it has the expected outer shape; otherwise what to use instead. */
export function parsed<T>(cell: SqlValue | undefined, otherwise: T, fits: (value: unknown) => boolean): T {
  if (typeof cell !== 'string') return otherwise;
  const value = parseJson(cell);
  return value !== undefined && fits(value) ? (value as T) : otherwise;
}

export const isList = (value: unknown): boolean => Array.isArray(value);

/** Limits come from people and programs: never negative, never more than a database takes. */
export const atMost = (limit: number): number => Math.max(0, Math.min(Math.floor(limit) || 0, Number.MAX_SAFE_INTEGER));

const MAX_DATE = 8.64e15;

/** A time out of a damaged row must not make a whole page of history unreadable. */
export function isoTime(at: number): string {
  return new Date(Math.abs(at) <= MAX_DATE ? at : 0).toISOString();
}
