/** Which sessions there are: whose, where, until when, and how they are. */

import { renameSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import { readRegularFile, writeNewFile } from '../base/regular-file.ts';
import { createMemoryBook } from '../sessions/memory-book.ts';
import type { SessionBook } from '../sessions/ports.ts';
import { type EndReason, SESSION_HOST, type SessionRecord } from '../sessions/spec.ts';
import { type ContainerHealthStatus, healthStatus } from './container-options.ts';

export interface SessionInfo {
  readonly sessionId: string;
  readonly userId: string;
  readonly challengeId: string;
  /** The full id. */
  readonly containerId: string;
  /** Where its port can be reached; `port` null: nothing is published. */
  readonly host: string;
  readonly port: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** `unknown` until it was looked at, and while the Engine cannot be asked. */
  readonly healthStatus: ContainerHealthStatus['status'];
}

/**
 * The sessions of a ChallengeOrchestrator that live, in memory. To keep them elsewhere as well, extend this class: the orchestrator
 * calls `saveSession`, `updateSessionHealth` and `removeSession` whenever there is something to write, and waits for none of them.
 */
export class SessionManager {
  readonly #sessions = new Map<string, SessionInfo>();

  /** Undefined: there is none, or it has ended. */
  getSession(sessionId: string): SessionInfo | undefined {
    return this.#sessions.get(sessionId);
  }

  /** Oldest first. */
  listUserSessions(userId: string): readonly SessionInfo[] {
    return this.listSessions().filter((session) => session.userId === userId);
  }

  /** Of all users, oldest first. */
  listSessions(): readonly SessionInfo[] {
    return [...this.#sessions.values()].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  }

  /**
   * Called for each change, and a last time before a session is cleared away. May be called by others who know better: it is shown
   * until the next change. One that has ended is ignored.
   */
  updateSessionHealth(sessionId: string, { status }: Pick<ContainerHealthStatus, 'status'>): void | Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session) this.#sessions.set(sessionId, { ...session, healthStatus: status });
  }

  /** It is new, or its lease or its port is another one. */
  saveSession(session: SessionInfo): void | Promise<void> {
    this.#sessions.set(session.sessionId, session);
  }

  /** Its container is gone. */
  removeSession(sessionId: string): void | Promise<void> {
    this.#sessions.delete(sessionId);
  }
}

// Tells a SessionManager and the orchestrator's listeners what becomes of sessions, and keeps their leases.

export interface SessionEnd {
  readonly reason: EndReason;
  /** A sentence for people. */
  readonly why: string;
}

export interface SessionListeners {
  onHealthChange?(session: SessionInfo, health: ContainerHealthStatus): void;
  onSessionEnd?(session: SessionInfo, end: SessionEnd): void;
}

export interface SessionManagerParts {
  readonly manager: SessionManager;
  readonly listeners: SessionListeners;
  readonly leases: LeaseFile | null;
  readonly log: Log;
}

export function openBook({ manager, listeners, leases, log }: SessionManagerParts): SessionBook {
  const book = createMemoryBook(leases?.read() ?? []);
  const shown = new Map<string, SessionRecord>();

  /** Other people's code: whatever it does, we go on, and nobody waits for it. */
  const tell = (what: string, call: () => unknown): void => {
    const failed = (error: unknown) => log.error(`${what} failed`, { error: String(error) });
    try {
      Promise.resolve(call()).catch(failed);
    } catch (error) {
      failed(error);
    }
  };

  const show = (record: SessionRecord): void => {
    const before = shown.get(record.id);
    // Nobody has been told about one that is still being made, or has ended already.
    if (record.containerId === null || record.state === 'spawning' || (!before && record.state !== 'live')) return;
    if (!before || isMoved(before, record)) tell('saveSession', () => manager.saveSession(infoOf(record)));
    const health = healthStatus(record.health, record.containerId);
    const isLast = record.state === 'ending' && before?.state === 'live';
    if (!before || before.health !== record.health || isLast) {
      tell('updateSessionHealth', () => manager.updateSessionHealth(record.id, health));
      if (before && !isLast) tell('onHealthChange', () => listeners.onHealthChange?.(infoOf(record), health));
    }
    if (isLast && record.end) {
      const { end } = record;
      tell('onSessionEnd', () => listeners.onSessionEnd?.(infoOf(record), end));
    }
    if (record.state === 'ended') {
      shown.delete(record.id);
      tell('removeSession', () => manager.removeSession(record.id));
    } else {
      shown.set(record.id, record);
    }
  };

  for (const record of book.open()) show(record);
  return {
    ...book,
    save: (record, told) => {
      book.save(record, told);
      leases?.write(book.open());
      show(record);
    },
  };
}

const isMoved = (before: SessionRecord, { lease, port, containerId }: SessionRecord): boolean =>
  before.lease !== lease || before.port !== port || before.containerId !== containerId;

export const infoOf = ({ id, user, template, containerId, port, lease, health }: SessionRecord): SessionInfo => ({
  sessionId: id,
  userId: user,
  challengeId: template,
  containerId: containerId ?? '',
  host: SESSION_HOST,
  port,
  createdAt: new Date(lease.createdAt),
  expiresAt: new Date(lease.expiresAt),
  healthStatus: health.status,
});

// What must outlive an embedder about its sessions, in one JSON file that is replaced as a whole. Without it, labels tell the rest.

const VERSION = 1;

export interface LeaseFile {
  /** Empty when there is no such file, or none that can be read. */
  read(): readonly SessionRecord[];
  /** Does nothing when it says the same already. Never throws: what cannot be written now is written with the next change. */
  write(records: readonly SessionRecord[]): void;
}

export function openLeaseFile(path: string, log: Log): LeaseFile {
  let written = '';
  return {
    read: () => {
      try {
        const { sessions } = JSON.parse(readRegularFile(path, { follow: true })) as { readonly sessions?: unknown };
        return Array.isArray(sessions) ? sessions.filter(isRecord) : [];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          log.warn(`${path} cannot be read: leases that were extended end as they were first given`, about(error));
        return [];
      }
    },
    write: (records) => {
      // Health comes and goes and is looked at anew by whoever reads this.
      const lasting = records.map((record) => ({ ...record, health: { status: 'unknown', reason: '' } }));
      const text = `${JSON.stringify({ version: VERSION, sessions: lasting }, null, 1)}\n`;
      if (text === written) return;
      const beside = `${path}.new-${process.pid}`;
      try {
        writeNewFile(beside, text, { flush: false });
        renameSync(beside, path);
        written = text;
      } catch (error) {
        log.warn(`${path} cannot be written: trying again with the next change`, about(error));
      }
    },
  };
}

const about = (error: unknown) => ({ error: (error as Error).message });

/** Enough to be sure that it is one of ours; what is in it was written by `write`. */
function isRecord(value: unknown): value is SessionRecord {
  const record = value as Partial<SessionRecord> | null;
  return (
    typeof record?.id === 'string' &&
    typeof record.user === 'string' &&
    typeof record.template === 'string' &&
    typeof record.state === 'string' &&
    typeof record.lease?.expiresAt === 'number' &&
    typeof record.terms?.maxTtlMs === 'number'
  );
}
