/** The JSON of `agents list` and `agents report` (design section 7). */
import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import type { AgentRecord, AgentStateKind, AgentsSpec } from '../spec.ts';
import { runOfAgent } from './step.ts';

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

// What people and scripts are told about one agent: a pure reading of its record.

export interface AgentInstant {
  readonly now: MonoMs;
  readonly wall: WallMs;
}

const isoTime = (at: WallMs): string => new Date(at).toISOString();

export function agentView(
  record: AgentRecord,
  { maxRespawns, types }: Pick<AgentsSpec, 'maxRespawns' | 'types'>,
  { now, wall }: AgentInstant,
): AgentView {
  const { type, task, state, startedAt, lastExit } = record;
  const isLive = state.kind === 'running' || (state.kind === 'stopping' && !state.ended && state.pid !== null);
  return {
    agent_type: type,
    task_id: task,
    state: state.kind,
    source: 'keepwell',
    pid: isLive ? record.pid : null,
    run_id: runOfAgent(state),
    started_at: isLive && startedAt !== null ? isoTime(startedAt) : null,
    uptime_ms: state.kind === 'running' ? Math.max(0, Math.round(now - state.startedAt)) : null,
    respawns: record.respawns.length,
    max_respawns: maxRespawns,
    next_attempt_at: state.kind === 'backing-off' ? isoTime((wall + Math.max(0, state.until - now)) as WallMs) : null,
    last_exit: lastExit && { ...lastExit.exit, at: isoTime(lastExit.at) },
    error: record.error,
    assigned_to: types.find(({ name }) => name === type)?.assignedTo ?? null,
    log: record.name,
    note: noteOn(record, now),
  };
}

function noteOn({ state, lastExit, error }: AgentRecord, now: MonoMs): string | null {
  const died = error ?? (lastExit ? describeExit(lastExit.exit) : 'ended');
  switch (state.kind) {
    case 'backing-off':
      return `${lastExit === null ? '' : `${died}; `}start in ${formatDuration(Math.max(0, Math.round(state.until - now)))}`;
    case 'stopping':
      return state.ended ? 'ending what it left behind' : 'asked to end';
    case 'gave-up':
      return `gave up: ${died}`;
    default:
      return null;
  }
}
