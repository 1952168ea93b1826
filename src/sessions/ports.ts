/** Sessions: one user's container each, with a lease. Works in the daemon and in other people's programs alike. */

import type { SessionsSpec } from './rules/template.ts';
import type { SessionEvent, SessionRecord } from './spec.ts';

/**
 * What must outlive the process about sessions. Losing it costs extended leases and the history, no container: those carry labels.
 * Nothing here throws: what cannot be written now is written later.
 */
export interface SessionBook {
  /** All that have not ended, as they were saved last. */
  open(): readonly SessionRecord[];
  /** Also of one that has ended, as far as it is remembered. */
  find(id: string): SessionRecord | null;
  /** Newest first: those that have ended, as far as they are remembered. */
  ended(query: { readonly user?: string; readonly limit: number }): readonly SessionRecord[];
  /** Written over the record with the same id, together with what there is to tell about it. */
  save(record: SessionRecord, told: readonly SessionEvent[]): void;
}

export interface SpawnRequest {
  /** Any text of 1 to 128 characters without control characters. */
  readonly user: string;
  readonly template: string;
  /** Absent: as the template says. */
  readonly ttlMs?: number | undefined;
  /** started (the default): its port is known. healthy: also its health check passes, within the template's `readyTimeoutMs`. */
  readonly wait?: 'started' | 'healthy' | undefined;
}

export interface SessionQuery {
  readonly user?: string | undefined;
  /** Also those that have ended, as far as they are remembered. */
  readonly all?: boolean | undefined;
}

/** Rejections are AppErrors: NO_SUCH_SESSION, NO_SUCH_TEMPLATE, SESSION_*, ENGINE_UNREACHABLE. */
export interface Sessions {
  /**
   * One after the other for each user. SESSION_QUOTA names the sessions that exist; a spawn that fails leaves nothing, and one that
   * did not become healthy in time (SESSION_NOT_READY) is ended.
   */
  spawn(request: SpawnRequest): Promise<SessionRecord>;
  /**
   * From any state, any number of times: resolves when its container is gone, or, while the Engine cannot be asked, with state
   * `ending`: it is done as soon as it can. The id, or a beginning of it that only one session has.
   */
  stop(id: string): Promise<SessionRecord>;
  /** As far as its template allowed when it began; SESSION_LEASE_FULL when there is no room at all. */
  extend(id: string, byMs: number): SessionRecord;
  get(id: string): SessionRecord;
  /** Oldest first. Health is as it is known now, `unknown` while the Engine cannot be asked. */
  list(query?: SessionQuery): readonly SessionRecord[];
  /** For new sessions from now on; those there are keep what they began with. */
  use(spec: SessionsSpec): void;
  /** Resolves when what earlier processes left was looked through, or could not be. */
  readonly settled: Promise<void>;
  /**
   * Lets go of everything; no container is touched unless `stopAll` is given: then all sessions are ended first. Resolves with those
   * whose containers could not be removed; the next process goes on with them.
   */
  close(options?: { readonly stopAll?: boolean }): Promise<readonly SessionRecord[]>;
}
