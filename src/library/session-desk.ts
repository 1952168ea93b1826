/** Tells a SessionManager and the orchestrator's listeners what becomes of sessions, and keeps their leases. */
import { type EndReason, SESSION_HOST, type SessionRecord } from '../sessions/spec.ts';
import type { Log } from '../base/log.ts';
import type { SessionBook } from '../sessions/ports.ts';
import { createMemoryBook } from '../sessions/memory-book.ts';
import { type ContainerHealthStatus, healthStatus } from './container-health.ts';
import type { LeaseFile } from './lease-file.ts';
import type { SessionInfo, SessionManager } from './session-manager.ts';

export interface SessionEnd {
  readonly reason: EndReason;
  /** A sentence for people. */
  readonly why: string;
}

export interface DeskListeners {
  onHealthChange?(session: SessionInfo, health: ContainerHealthStatus): void;
  onSessionEnd?(session: SessionInfo, end: SessionEnd): void;
}

export interface DeskParts {
  readonly manager: SessionManager;
  readonly listeners: DeskListeners;
  readonly leases: LeaseFile | null;
  readonly log: Log;
}

export function openBook({ manager, listeners, leases, log }: DeskParts): SessionBook {
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
