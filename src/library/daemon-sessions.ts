/** The sessions of a daemon, as methods of the library. */
import type { Client } from '../api/client/client.ts';
import type { SessionView } from '../sessions/rules/view.ts';

export interface SpawnSessionOptions {
  /** Default: as the template says. */
  readonly ttlMs?: number;
  /** started (the default): its port is known. healthy: also its health check passes. */
  readonly wait?: 'started' | 'healthy';
}

export class DaemonSessions {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Oldest first, with their health. `all`: also those that have ended. */
  async list(options: { readonly user?: string; readonly all?: boolean } = {}): Promise<readonly SessionView[]> {
    return (await this.#client.sessions(options)).sessions;
  }

  /** By its id, or a beginning of it. Rejects with NO_SUCH_SESSION. */
  async get(id: string): Promise<SessionView> {
    return (await this.#client.session(id)).session;
  }

  /** Rejects with SESSION_QUOTA when the user has as many as allowed; what fails leaves nothing. */
  async spawn(template: string, user: string, options: SpawnSessionOptions = {}): Promise<SessionView> {
    return (await this.#client.spawnSession({ template, user, ...options })).session;
  }

  /** From any state, any number of times. */
  async stop(id: string): Promise<SessionView> {
    return (await this.#client.stopSession(id)).session;
  }

  /** As far as its template allows. Rejects with SESSION_LEASE_FULL when there is no room at all. */
  async extend(id: string, byMs: number): Promise<SessionView> {
    return (await this.#client.extendSession(id, byMs)).session;
  }
}
