/** The JSON of `agents list` and `agents report` (design section 7). */

import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import type { Count, IsoTime, WholeNumber } from '../../base/pure/json.ts';
import type { AgentRecord, AgentStateKind, AgentsSpec } from '../spec.ts';
import { runOfAgent } from './step.ts';

/** A worker that was spawned for a task. */
export interface AgentView {
  readonly agent_type: string;
  readonly task_id: string;
  /** unknown: somebody else started it, and whether it lives cannot be seen. */
  readonly state: AgentStateKind | 'unknown';
  /** state-file: somebody else started it and wrote it down. */
  readonly source: 'keepwell' | 'state-file';
  /** Null: it does not run. */
  readonly pid: WholeNumber | null;
  readonly run_id: string | null;
  readonly started_at: IsoTime | null;
  readonly uptime_ms: number | null;
  /** Of this task, since it was asked for. */
  readonly respawns: Count;
  readonly max_respawns: Count;
  readonly next_attempt_at: IsoTime | null;
  readonly last_exit: (ExitView & { readonly at: IsoTime }) | null;
  /** What its last crash said. */
  readonly error: string | null;
  readonly assigned_to: string | null;
  /** The name of its log; null: it is not ours. */
  readonly log: string | null;
  readonly note: string | null;
}

/** Agents, in the order in which they were spawned. */
export interface AgentsView {
  readonly schema_version: 1;
  readonly agents: readonly AgentView[];
}

/** The agent, as it is then. */
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

/** Something that is wrong with agents or with the loop that spawns them. */
export interface AgentIssue {
  readonly type: AgentIssueType;
  readonly agent_pid: WholeNumber | null;
  readonly agent_type: string | null;
  readonly task_id: string | null;
  readonly error: string;
  /** "respawned", "gave up", "cleaned", "none", … */
  readonly action_taken: string;
  readonly bug_reported: boolean;
  readonly bug_number: WholeNumber | null;
  /** When it happened; null: it is so now, and nobody knows since when. */
  readonly at: IsoTime | null;
}

export type AgentsStatus = 'healthy' | 'degraded' | 'critical';

/** How agents, and the loop that spawns them, are. */
export interface AgentsReportView {
  readonly schema_version: 1;
  /** critical: the loop is frozen, or more than 10 crashes in an hour. degraded: any other issue. */
  readonly status: AgentsStatus;
  readonly timestamp: IsoTime;
  readonly issues: readonly AgentIssue[];
  readonly metrics: {
    readonly active_agents: Count;
    readonly crashed_agents_last_hour: Count;
    /** Respawns of the last hour that outlived `min_uptime` or finished, divided by all of them; null: none. */
    readonly respawn_success_rate: number | null;
    /** Seconds since the loop's last sign of life; null: there is no loop, or it gave none since it was started. */
    readonly orchestrator_last_poll: number | null;
  };
}

/** How agents, and the loop that spawns them, are after a look through all of them, and what was done about it. */
export interface AgentsCheckView extends AgentsReportView {
  /** What was fixed: by this look, or since the time that was asked for. */
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
    // Records of earlier versions do not say what it used.
    last_exit: lastExit && { ...lastExit.exit, usage: lastExit.exit.usage ?? null, at: isoTime(lastExit.at) },
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
