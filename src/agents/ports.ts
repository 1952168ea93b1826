/** Agents: typed workers that are spawned for a task, those that others spawn, and the loop that spawns them. */

import type { WallMs } from '../base/pure/ids.ts';
import type { AgentIssue, AgentsCheckView, AgentsReportView, AgentView } from './rules/views.ts';
import type { AgentRecord, AgentsSpec } from './spec.ts';

export interface AgentRequest {
  /** A type that the configuration names. */
  readonly type: string;
  /** Any text of 1 to 1024 bytes without NUL. It is one argument of the command, whatever it contains. */
  readonly task: string;
}

export interface AgentsQuery {
  /** Also those that have ended, as far as they are remembered. */
  readonly all?: boolean | undefined;
}

/** Errors are AppErrors: NO_SUCH_AGENT_TYPE, NO_SUCH_AGENT, AGENT_TASK_INVALID, AGENT_ALREADY_RUNNING, DAEMON_CLOSING. */
export interface Agents {
  /** Resolves as soon as it is written down; the start follows. Asking for a task anew gives it a fresh budget. */
  spawn(request: AgentRequest): Promise<AgentView>;
  /** By pid or by task (all agents of that task). Resolves when their processes are gone. Those that have ended stay as they are. */
  stop(which: string): Promise<readonly AgentView[]>;
  /** Ours and those of others as of the last pass, in the order in which they were spawned. */
  list(query?: AgentsQuery): readonly AgentView[];
  report(): AgentsReportView;
  /** One pass over all of them, now. `since`: also what was fixed since then, at most an hour ago. */
  check(since?: string): Promise<AgentsCheckView>;
}

/** For whoever looks after agents that others spawned. */
export interface Respawns {
  /**
   * Begins an agent of ours for a task whose agent died elsewhere, and counts it as a respawn of that task. `none`: no such type, the
   * budget is used up, or an agent of ours has the task already; `why` is a sentence.
   */
  respawn(request: AgentRequest): { readonly kind: 'respawned' } | { readonly kind: 'none'; readonly why: string };
}

/** What one pass found out, from one part of it. */
export interface Findings {
  readonly issues: readonly AgentIssue[];
  /** Sentences: "respawned architect for SPEC-111", "removed 15 dead entries from agent_state.json". */
  readonly actions: readonly string[];
  /** Numbers of the tickets that were filed. */
  readonly bugs: readonly number[];
}

export interface OthersFindings extends Findings {
  /** Those that live, or may live. */
  readonly agents: readonly AgentView[];
  readonly zombies: number;
}

export interface LoopFindings extends Findings {
  /** Null: there is no loop, or nobody can say. */
  readonly responsive: boolean | null;
  readonly lastPollAgeSeconds: number | null;
}

/** One part of a pass. It never rejects, and a pass waits for it no longer than to the next one. */
export interface PassPart<F extends Findings> {
  look(): Promise<F>;
  use(spec: AgentsSpec): void;
  close(): Promise<void>;
}

/** One row of `health_checks`. */
export interface HealthCheckRow {
  readonly at: WallMs;
  readonly status: 'healthy' | 'degraded' | 'critical';
  readonly activeAgents: number;
  /** Since the pass before. */
  readonly crashedAgents: number;
  readonly zombieProcesses: number;
  readonly orchestratorResponsive: boolean | null;
  readonly lastPollAgeSeconds: number | null;
  readonly actionsTaken: readonly string[];
  /** Numbers of the tickets that were filed. */
  readonly bugsReported: readonly number[];
}

/** What must outlive the process about agents, as the store keeps it. */
export interface AgentBook {
  /** All that are remembered, oldest first. */
  agents(): readonly AgentRecord[];
  /** Newest first. */
  healthChecks(query: { readonly limit: number }): readonly HealthCheckRow[];
}
