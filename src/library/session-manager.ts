/** Which sessions there are: whose, where, until when, and how they are. */
import type { ContainerHealthStatus } from './container-health.ts';

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
