/** The JSON of `agents list` and `agents report` (design section 7). */

import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { after, type MonoMs, type WallMs } from '../../base/pure/ids.ts';
import type { Count, IsoTime, WholeNumber } from '../../base/pure/json.ts';
import { frozenNote } from '../../supervision/rules/freeze/freeze.ts';
import type { HeartbeatView } from '../../supervision/rules/views.ts';
import type { AgentRecord, AgentState, AgentStateKind, AgentsSpec } from '../spec.ts';
import { runOfAgent } from './step.ts';

/** A worker that was spawned for a task. */
export interface AgentView {
  readonly agent_type: string;
  readonly task_id: string;
  /** unknown: somebody else started it, and whether it lives cannot be seen. */
  readonly state: AgentStateKind | 'unknown';
  /** state-file: somebody else started it and wrote it down. */
  readonly source: 'keepwell' | 'state-file';
  /** frozen: its heartbeat is overdue. timed-out: it ran longer than its timeout. unkillable: SIGKILL had no effect. */
  readonly condition: 'frozen' | 'timed-out' | 'unkillable' | null;
  /** Null: it does not run. */
  readonly pid: WholeNumber | null;
  readonly run_id: string | null;
  readonly started_at: IsoTime | null;
  readonly uptime_ms: number | null;
  /** When its run has taken longer than its `timeout`; null: it has none, or does not run. */
  readonly timeout_at: IsoTime | null;
  /** Null: it has none, or does not run. */
  readonly heartbeat: HeartbeatView | null;
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
  /** Its heartbeat is overdue, or was and it was ended for that. */
  | 'agent_frozen'
  /** It ran longer than its timeout. */
  | 'agent_timeout'
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
  heartbeat: HeartbeatView | null = null,
): AgentView {
  const { type, task, state, startedAt, lastExit } = record;
  const ofType = types.find(({ name }) => name === type) ?? null;
  const timeoutMs = ofType?.timeoutMs ?? null;
  const later = (at: MonoMs): string => isoTime((wall + Math.round(at - now)) as WallMs);
  const isLive = state.kind === 'running' || (state.kind === 'stopping' && !state.ended && state.pid !== null);
  return {
    agent_type: type,
    task_id: task,
    state: state.kind,
    source: 'keepwell',
    condition: conditionOf(state),
    pid: isLive ? record.pid : null,
    run_id: runOfAgent(state),
    started_at: isLive && startedAt !== null ? isoTime(startedAt) : null,
    uptime_ms: state.kind === 'running' ? Math.max(0, Math.round(now - state.startedAt)) : null,
    timeout_at: state.kind !== 'running' || timeoutMs === null ? null : later(after(state.startedAt, timeoutMs)),
    heartbeat,
    respawns: record.respawns.length,
    max_respawns: maxRespawns,
    next_attempt_at: state.kind === 'backing-off' ? later(Math.max(now, state.until) as MonoMs) : null,
    // Records of earlier versions do not say what it used.
    last_exit: lastExit && { ...lastExit.exit, usage: lastExit.exit.usage ?? null, at: isoTime(lastExit.at) },
    error: record.error,
    assigned_to: ofType?.assignedTo ?? null,
    log: record.name,
    note: noteOn(record, now),
  };
}

function conditionOf(state: AgentState): AgentView['condition'] {
  if (state.kind === 'stopping' && state.stage === 'unkillable') return 'unkillable';
  if ((state.kind !== 'running' && state.kind !== 'stopping') || !state.freeze) return null;
  return state.freeze.timeout ? 'timed-out' : 'frozen';
}

function noteOn({ state, lastExit, error }: AgentRecord, now: MonoMs): string | null {
  const died = error ?? (lastExit ? describeExit(lastExit.exit) : 'ended');
  switch (state.kind) {
    case 'backing-off':
      return `${lastExit === null ? '' : `${died}; `}start in ${formatDuration(Math.max(0, Math.round(state.until - now)))}`;
    case 'running':
      if (!state.freeze) return null;
      return state.freeze.timeout ? `${state.freeze.reason}; examined, then ended` : frozenNote(state.freeze, now);
    case 'stopping':
      if (state.ended) return 'ending what it left behind';
      return state.unhealthy === undefined ? 'asked to end' : `${state.unhealthy}; asked to end`;
    case 'gave-up':
      return `gave up: ${died}`;
    default:
      return null;
  }
}
