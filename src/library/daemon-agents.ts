/** The agents of a daemon, as methods of the library. */
import type { Client } from '../api/client/client.ts';
import type { AgentsReportView, AgentView } from '../agents/rules/views.ts';

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
