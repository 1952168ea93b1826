/** What people and scripts are told about one agent: a pure reading of its record. */
import { describeExit } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import type { AgentRecord, AgentsSpec } from '../spec.ts';
import { runOfAgent } from './step.ts';
import type { AgentView } from './views.ts';

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
