/** Looks into a database past the store, as somebody with `sqlite3` would. */
import { loadSqlite, type Row } from '../../../src/base/sqlite.ts';

export async function query(path: string, sql: string): Promise<readonly Row[]> {
  const db = (await loadSqlite()).open(path, 'read-only');
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

export async function column(path: string, sql: string): Promise<readonly unknown[]> {
  return (await query(path, sql)).map((row) => {
    const [value] = Object.values(row);
    return typeof value === 'bigint' ? Number(value) : value;
  });
}

/** 'ok', or what SQLite complains about. */
export const integrity = async (path: string): Promise<string> =>
  (await column(path, 'PRAGMA integrity_check')).join('\n');

export const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, i) => i + 1);
