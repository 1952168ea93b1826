/** The JSON of `agents list` and `agents report` (design section 7). */
import type { ExitView } from '../../base/pure/exit.ts';
import type { AgentStateKind } from '../spec.ts';

export interface AgentView {
  readonly agent_type: string;
  readonly task_id: string;
  /** unknown: somebody else started it, and whether it lives cannot be seen. */
  readonly state: AgentStateKind | 'unknown';
  /** keepwell: spawned here. state-file: somebody else started it. */
  readonly source: 'keepwell' | 'state-file';
  /** Null: it does not run. */
  readonly pid: number | null;
  readonly run_id: string | null;
  readonly started_at: string | null;
  readonly uptime_ms: number | null;
  /** Of this task, and how many there may be. */
  readonly respawns: number;
  readonly max_respawns: number;
  readonly next_attempt_at: string | null;
  readonly last_exit: (ExitView & { readonly at: string }) | null;
  /** What its last crash said. */
  readonly error: string | null;
  readonly assigned_to: string | null;
  /** The name of its log, for `logs --agent`; null: it is not ours. */
  readonly log: string | null;
  readonly note: string | null;
}

export interface AgentsView {
  readonly schema_version: 1;
  readonly agents: readonly AgentView[];
}

export interface OneAgentView {
  readonly schema_version: 1;
  readonly agent: AgentView;
}

export type AgentIssueType =
  | 'agent_crash'
  | 'orchestrator_frozen'
  | 'dead_entries'
  | 'zombie_process'
  | 'orphan_process'
  | 'state_file';

export interface AgentIssue {
  readonly type: AgentIssueType;
  readonly agent_pid: number | null;
  readonly agent_type: string | null;
  readonly task_id: string | null;
  readonly error: string;
  /** "respawned", "gave up", "cleaned", "none", … */
  readonly action_taken: string;
  readonly bug_reported: boolean;
  readonly bug_number: number | null;
  /** When it happened, or was done; null: it is so now, and nobody knows since when. */
  readonly at: string | null;
}

export type AgentsStatus = 'healthy' | 'degraded' | 'critical';

export interface AgentsReportView {
  readonly schema_version: 1;
  readonly status: AgentsStatus;
  readonly timestamp: string;
  readonly issues: readonly AgentIssue[];
  readonly metrics: {
    readonly active_agents: number;
    readonly crashed_agents_last_hour: number;
    /** Respawns that helped, of those in the last hour; null: there were none. */
    readonly respawn_success_rate: number | null;
    /** Seconds since the loop's last sign of life; null: there is no loop, or it gave none since it was started. */
    readonly orchestrator_last_poll: number | null;
  };
}

/** A report after a look through all of them. */
export interface AgentsCheckView extends AgentsReportView {
  /** What was fixed by that, or since the time that was asked for: agents that were respawned, entries that were removed. */
  readonly fixed: readonly AgentIssue[];
}
