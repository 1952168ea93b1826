/** Sessions as the API returns them and `-o json` prints them. Additions are allowed, changes are not. */

import { AppError } from '../../base/pure/errors.ts';
import type { Count, IsoTime, WholeNumber } from '../../base/pure/json.ts';
import type { HealthVerdict } from '../../supervision/rules/container-health.ts';
import type { SessionsSummary } from '../../supervision/rules/views.ts';
import { type EndReason, SESSION_HOST, type SessionRecord, type SessionState } from '../spec.ts';

/** One user's container with a lease. */
export interface SessionView {
  readonly session_id: string;
  readonly user_id: string;
  /** The name of its template. */
  readonly challenge_id: string;
  readonly container_id: string | null;
  /** Null: nothing is published, or it is not known yet. */
  readonly host: string | null;
  /** On `host`. It may be another one after a restart. */
  readonly port: WholeNumber | null;
  readonly created_at: IsoTime;
  readonly expires_at: IsoTime;
  /** Docker's words; none: there is no health check; unknown: nobody could look. */
  readonly health_status: HealthVerdict['status'];
  /** Why it is not healthy, or why nobody knows. */
  readonly health_reason: string | null;
  readonly state: SessionState;
  readonly restarts: Count;
  /** When its end was decided. */
  readonly ended_at: IsoTime | null;
  readonly end_reason: EndReason | null;
  /** A sentence about its end. */
  readonly end_note: string | null;
}

/** Sessions, oldest first. */
export interface SessionsView {
  readonly schema_version: 1;
  readonly sessions: readonly SessionView[];
}

/** The session, as it is then. */
export interface OneSessionView {
  readonly schema_version: 1;
  readonly session: SessionView;
}

const iso = (wallMs: number): string => new Date(wallMs).toISOString();

export const sessionView = (record: SessionRecord): SessionView => {
  const { lease, health, end, port } = record;
  return {
    session_id: record.id,
    user_id: record.user,
    challenge_id: record.template,
    container_id: record.containerId,
    host: port === null ? null : SESSION_HOST,
    port,
    created_at: iso(lease.createdAt),
    expires_at: iso(lease.expiresAt),
    health_status: health.status,
    health_reason: health.reason === '' ? null : health.reason,
    state: record.state,
    restarts: record.restarts,
    ended_at: end && iso(end.at),
    end_reason: end?.reason ?? null,
    end_note: end?.why ?? null,
  };
};

export const sessionsView = (records: readonly SessionRecord[]): SessionsView => ({
  schema_version: 1,
  sessions: records.map(sessionView),
});

export const oneSessionView = (record: SessionRecord): OneSessionView => ({
  schema_version: 1,
  session: sessionView(record),
});

export const sessionsSummary = (records: readonly SessionRecord[]): SessionsSummary => ({
  total: records.length,
  unhealthy: records.filter(({ health }) => health.status === 'unhealthy').length,
});

// The session that an id, or the beginning of one, means.

/** Where sessions that are not open any more are looked for. */
export interface Past {
  find(id: string): SessionRecord | null;
  ended(query: { readonly limit: number }): readonly SessionRecord[];
}

/** Shorter beginnings name somebody else's session by accident. */
const MIN_LENGTH = 4;
/** Ended ones that are searched for a beginning. */
export const MAX_ENDED = 1_000;
const NAMED = 5;

export function findSession(id: string, open: readonly SessionRecord[], past: Past): SessionRecord {
  const exact = open.find((record) => record.id === id) ?? past.find(id);
  if (exact) return exact;
  const begins = (record: SessionRecord) => id.length >= MIN_LENGTH && record.id.startsWith(id);
  const alive = open.filter(begins);
  // Those that live are meant first: what has ended needs nothing any more.
  const found = alive.length > 0 ? alive : past.ended({ limit: MAX_ENDED }).filter(begins);
  if (found.length > 1) {
    const sessions = found.slice(0, NAMED).map((record) => record.id);
    throw new AppError('SESSION_ID_AMBIGUOUS', { id, sessions: sessions.join(', ') });
  }
  if (!found[0]) throw new AppError('NO_SUCH_SESSION', { id: id.slice(0, 100) });
  return found[0];
}
