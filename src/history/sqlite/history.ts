/** The history read from outside the daemon: by the CLI when no daemon runs, or beside one. Never writes, never migrates. */

import { AppError } from '../../base/pure/errors.ts';
import { loadSqlite, type Sqlite } from '../../base/sqlite.ts';
import type { History } from '../ports.ts';
import { historyOf } from '../questions.ts';
import type { Rows } from '../table.ts';
import { openAside, quietly, sizeOf } from './connection.ts';
import { schemaVersion } from './migrations.ts';
import { problemOf } from './problem.ts';
import { OLDEST_READABLE, SqliteRows } from './rows.ts';

/** Nobody waits for this process, so it can wait for others. */
const BUSY_TIMEOUT_MS = 2_000;

export type OpenHistory = History & { close(): void };

/** Throws STORE_UNAVAILABLE when there is nothing to read or it cannot be read; so do the methods of what it gives. */
export async function openHistory(path: string): Promise<OpenHistory> {
  if (!sizeOf(path)) throw unavailable('nothing has been recorded yet');
  const sqlite = await loadSqlite();
  const { rows, close } = saying(() => open(sqlite, path));
  return { ...historyOf({ select: (from, which) => saying(() => rows.select(from, which)) }), close };
}

function open(sqlite: Sqlite, path: string): { readonly rows: Rows; close(): void } {
  const db = sqlite.open(path, 'read-only');
  const close = () => quietly(() => db.close());
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const version = schemaVersion(db);
    if (version < OLDEST_READABLE) throw unavailable('nothing has been recorded yet');
    return { rows: new SqliteRows(db, version), close };
  } catch (error) {
    close();
    // On a read-only file system SQLite cannot even make the files it reads through.
    const aside = error instanceof AppError ? null : openAside(sqlite, path, error);
    if (aside === null) throw error;
    return aside;
  }
}

const unavailable = (problem: string, cause?: unknown): AppError =>
  new AppError('STORE_UNAVAILABLE', { problem }, { cause });

function saying<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof AppError ? error : unavailable(problemOf(error).words, error);
  }
}
