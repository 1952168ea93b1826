/** Looks after the agents of a program that spawns them itself, in the background of its own loop. */

import type { AgentIssue, AgentsReportView } from '../agents/rules/views.ts';
import { type Client, createClient, ifRunning } from '../api/client/client.ts';
import { daemonSocket } from '../base/home.ts';
import { AppError } from '../base/pure/errors.ts';
import type { TicketView } from '../incidents/tickets/rules/view.ts';
import type { KeepwellConfig } from './config-input.ts';
import type { InProcess } from './in-process.ts';
import type { OpenOptions } from './options.ts';
import { type ConfigInput, readConfigInput } from './read-config.ts';

export interface OrchestratorHealthMonitorOptions extends OpenOptions {
  /** Told what went wrong here: nothing is ever thrown. */
  readonly onError?: (error: Error) => void;
}

/** As `keepwell agents report`, and one more kind of issue: that it could not be made. */
export interface OrchestratorHealth extends Omit<AgentsReportView, 'issues'> {
  readonly issues: readonly (AgentIssue | MonitorIssue)[];
}

export interface MonitorIssue extends Omit<AgentIssue, 'type'> {
  readonly type: 'monitor_failed';
}

const MAX_TICKETS = 100;

/**
 * Detects agents that crashed and entries that are dead, respawns and cleans, and files tickets. Where a daemon runs for the project,
 * it does the work and this asks it. Otherwise the work is done in this process, with the same records; components are not started
 * then, agents live on when this ends, and whether the loop is frozen is seen in its heartbeat file.
 *
 * No method ever rejects: what goes wrong here must not end the loop that calls it.
 *
 * @example
 * await using monitor = new OrchestratorHealthMonitor('keepwell.yaml');
 * for (;;) {
 *   await doWork();
 *   const { status } = await monitor.checkHealth();
 *   if (status !== 'healthy') await monitor.autoFixIssues();
 *   for (const bug of await monitor.reportBugsIfAny()) console.error(bug.number, bug.title);
 * }
 */
export class OrchestratorHealthMonitor implements AsyncDisposable {
  readonly #config: ConfigInput;
  readonly #options: OrchestratorHealthMonitorOptions;
  #own: InProcess | null = null;
  /** One at a time: two calls at once must not open the project twice. */
  #opening: Promise<Client> | null = null;
  #known: ReadonlySet<string> | null = null;
  /** Since when something can have been done for this monitor, and what of that was returned already. */
  #since: string | null = null;
  #returned: ReadonlySet<string> = new Set();
  #isClosed = false;

  constructor(config: string | readonly string[] | KeepwellConfig, options: OrchestratorHealthMonitorOptions = {}) {
    this.#config = config;
    this.#options = options;
  }

  /** How agents and the loop are, as of the last pass. */
  async checkHealth(): Promise<OrchestratorHealth> {
    return await this.#quietly((client) => client.reportAgents(), failedReport);
  }

  /**
   * Looks through everything now, and does what is due: respawns, removes dead entries. Returns the issues that were fixed since the last
   * call, each once. What happens at once, such as a respawn, may have happened before this call.
   */
  async autoFixIssues(): Promise<readonly AgentIssue[]> {
    const fixed = async (client: Client) => {
      const { fixed: done } = await client.lookAtAgents(this.#since ?? undefined);
      const news = done.filter((issue) => !this.#returned.has(keyOf(issue)));
      this.#returned = new Set(done.map(keyOf));
      return news;
    };
    return await this.#quietly(fixed, () => []);
  }

  /** Tickets that were filed since the last call; the first time, since the first call of any method. */
  async reportBugsIfAny(): Promise<readonly TicketView[]> {
    return await this.#quietly(
      async (client) => {
        const before = this.#known ?? new Set();
        const { tickets } = await client.tickets({ state: 'open', limit: MAX_TICKETS });
        this.#known = new Set([...before, ...tickets.map(({ number }) => number)]);
        return tickets.filter(({ number }) => !before.has(number));
      },
      () => [],
    );
  }

  /** Agents and components are left as they are. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#opening;
    } catch {
      // told already
    }
    try {
      await this.#own?.end('handover');
    } catch (error) {
      this.#options.onError?.(error as Error);
    }
    this.#own = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #quietly<T>(ask: (client: Client) => Promise<T>, otherwise: (error: Error) => T): Promise<T> {
    try {
      return await ask(await this.#client());
    } catch (error) {
      // The daemon may be gone for good: the next call looks for it anew, or does its work.
      if (this.#own === null) this.#opening = null;
      try {
        this.#options.onError?.(error as Error);
      } catch {
        // whoever throws there meant something else
      }
      return otherwise(error as Error);
    }
  }

  #client(): Promise<Client> {
    if (this.#isClosed) return Promise.reject(new Error('this OrchestratorHealthMonitor is closed: make a new one'));
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<Client> {
    const since = this.#since ?? new Date().toISOString();
    this.#since = since;
    const running = await this.#running();
    const client = running ?? (await this.#openHere());
    // What was filed before is no news; what the first pass has found meanwhile is.
    if (this.#known === null) {
      const { tickets } = await client.tickets({ state: 'open', limit: MAX_TICKETS });
      this.#known = new Set(tickets.filter(({ first_seen }) => first_seen < since).map(({ number }) => number));
    }
    return client;
  }

  /** The client of a daemon that answers; null: there is none. */
  async #running(): Promise<Client | null> {
    const { project } = readConfigInput(this.#config, this.#options);
    const client = createClient(daemonSocket(project.home, process.env, process.getuid?.() ?? 0));
    return (await ifRunning(client.version())) === null ? null : client;
  }

  async #openHere(): Promise<Client> {
    const { openInProcess } = await import('./in-process.ts');
    try {
      this.#own = await openInProcess(this.#config, this.#options, { onDemand: true });
      const client = createClient(this.#own.socket);
      await client.lookAtAgents(); // or the first report would be about nothing
      return client;
    } catch (error) {
      // Somebody was faster.
      const isHeld = error instanceof AppError && error.code === 'DAEMON_ALREADY_RUNNING';
      const client = isHeld ? await this.#running() : null;
      if (client === null) throw error;
      return client;
    }
  }
}

/** A ticket may be added to an issue later: it is the same one then. */
const keyOf = ({ type, at, agent_pid, agent_type, task_id, error, action_taken }: AgentIssue): string =>
  JSON.stringify([type, at, agent_pid, agent_type, task_id, error, action_taken]);

function failedReport(error: Error): OrchestratorHealth {
  const nobody = { agent_pid: null, agent_type: null, task_id: null, bug_reported: false, bug_number: null, at: null };
  return {
    schema_version: 1,
    status: 'degraded',
    timestamp: new Date().toISOString(),
    issues: [{ type: 'monitor_failed', ...nobody, error: error.message, action_taken: 'none' }],
    metrics: {
      ...{ active_agents: 0, crashed_agents_last_hour: 0, respawn_success_rate: null, orchestrator_last_poll: null },
    },
  };
}
