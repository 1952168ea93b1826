/** The agents, sessions and tickets of a daemon, as methods of the library. */
import type { AgentsReportView, AgentView } from '../agents/rules/views.ts';
import type { Client } from '../api/client/client.ts';
import type { TicketView } from '../incidents/tickets/rules/view.ts';
import type { SessionView } from '../sessions/rules/view.ts';

export class DaemonAgents {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Those that live, in the order in which they were spawned; those that others started, too. `all`: also those that have ended. */
  async list(options: { readonly all?: boolean } = {}): Promise<readonly AgentView[]> {
    return (await this.#client.agents(options)).agents;
  }

  /** How they, and the loop that spawns them, are. */
  async report(): Promise<AgentsReportView> {
    return await this.#client.reportAgents();
  }

  /** By pid or by task; resolves when their processes are gone. They are not respawned. Rejects with NO_SUCH_AGENT. */
  async stop(which: number | string): Promise<readonly AgentView[]> {
    return (await this.#client.stopAgents(String(which))).agents;
  }
}

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

export class DaemonTickets {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Newest first. Default: those that are open. */
  async list(
    options: { readonly state?: 'open' | 'closed' | 'all'; readonly limit?: number } = {},
  ): Promise<readonly TicketView[]> {
    return (await this.#client.tickets(options)).tickets;
  }

  /** By its number: 3 or "BUG-003". Rejects with NO_SUCH_TICKET. */
  async get(number: number | string): Promise<TicketView> {
    return (await this.#client.ticket(String(number))).ticket;
  }

  /** Any number of times. The next crash with the same cause opens it again. */
  async close(number: number | string): Promise<TicketView> {
    return (await this.#client.closeTicket(String(number))).ticket;
  }

  async reopen(number: number | string): Promise<TicketView> {
    return (await this.#client.reopenTicket(String(number))).ticket;
  }
}
