/** The history read from outside the daemon: by the CLI when no daemon runs, or beside one. Never writes, never migrates. */

import { AppError } from '../../base/pure/errors.ts';
import { loadSqlite, type Sqlite } from '../../base/sqlite.ts';
import type { History } from '../ports.ts';
import { openAside, quietly, sizeOf } from './connection.ts';
import { schemaVersion } from './migrations.ts';
import { problemOf } from './problem.ts';
import { OLDEST_READABLE, SqliteHistory } from './reader.ts';

/** Nobody waits for this process, so it can wait for others. */
const BUSY_TIMEOUT_MS = 2_000;

export type OpenHistory = History & { close(): void };

/** Throws STORE_UNAVAILABLE when there is nothing to read or it cannot be read; so do the methods of what it gives. */
export async function openHistory(path: string): Promise<OpenHistory> {
  if (!sizeOf(path)) throw unavailable('nothing has been recorded yet');
  const sqlite = await loadSqlite();
  const { history, close } = saying(() => open(sqlite, path));
  return {
    components: () => saying(() => history.components()),
    crashes: (query) => saying(() => history.crashes(query)),
    why: (which) => saying(() => history.why(which)),
    events: (query) => saying(() => history.events(query)),
    lastSeq: () => saying(() => history.lastSeq()),
    run: (run) => saying(() => history.run(run)),
    runs: (query) => saying(() => history.runs(query)),
    probes: (query) => saying(() => history.probes(query)),
    samples: (query) => saying(() => history.samples(query)),
    checkResults: (query) => saying(() => history.checkResults(query)),
    sessions: (query) => saying(() => history.sessions(query)),
    session: (id) => saying(() => history.session(id)),
    agents: () => saying(() => history.agents()),
    healthChecks: (query) => saying(() => history.healthChecks(query)),
    incidents: (query) => saying(() => history.incidents(query)),
    incident: (id) => saying(() => history.incident(id)),
    incidentOf: (fingerprint) => saying(() => history.incidentOf(fingerprint)),
    tickets: (query) => saying(() => history.tickets(query)),
    ticket: (number) => saying(() => history.ticket(number)),
    ticketByFingerprint: (fingerprint) => saying(() => history.ticketByFingerprint(fingerprint)),
    lastNumber: (of) => saying(() => history.lastNumber(of)),
    campaigns: (limit) => saying(() => history.campaigns(limit)),
    campaign: (name) => saying(() => history.campaign(name)),
    lastGoodIngredients: (component) => saying(() => history.lastGoodIngredients(component)),
    meta: (key) => saying(() => history.meta(key)),
    close,
  };
}

function open(sqlite: Sqlite, path: string): { readonly history: SqliteHistory; close(): void } {
  const db = sqlite.open(path, 'read-only');
  const close = () => quietly(() => db.close());
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const version = schemaVersion(db);
    if (version < OLDEST_READABLE) throw unavailable('nothing has been recorded yet');
    return { history: new SqliteHistory(db, version), close };
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
