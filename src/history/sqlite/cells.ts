/** Single values in and out of the database. Reading never throws: one odd cell must not hide the rest of the history. */
import { parseJson } from '../../base/pure/json.ts';
import type { SqlValue } from '../../base/sqlite.ts';

export { isObject } from '../../base/pure/json.ts';

/** Text columns hold plain text. A NUL would cut the value off when it is read back on some drivers, so it is shown instead. */
export const text = (value: string): string => value.replaceAll('\0', '\u2400');
export const textOrNull = (value: string | null): string | null => (value === null ? null : text(value));

export const flag = (value: boolean): number => (value ? 1 : 0);

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
