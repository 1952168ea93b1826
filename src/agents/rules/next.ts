/** What happens to an agent: one fact and its record in, its new record and what is to be done out. Pure. */
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { AgentRecord, AgentState, AgentType, Pause } from '../spec.ts';
import {
  type AgentContext,
  type AgentEvent,
  type AgentStep,
  judged,
  moved,
  runOfAgent,
  same,
  tell,
  wallOf,
} from './step.ts';
import { exited, rebooted, settle, spawnFailed } from './when-over.ts';

/** When it wants to be woken; null: not at all. */
export function agentWakesAt(state: AgentState, { minUptimeMs }: Pick<AgentType, 'minUptimeMs'>): MonoMs | null {
  if (state.kind === 'backing-off') return state.until;
  if (state.kind === 'running' && !state.lived) return after(state.startedAt, minUptimeMs);
  return state.kind === 'stopping' ? state.killAt : null;
}

export function nextOfAgent(record: AgentRecord, event: AgentEvent, context: AgentContext): AgentStep {
  const { state } = record;
  if ('run' in event && event.run !== runOfAgent(state)) return same(record); // of a run that is over
  switch (event.kind) {
    case 'started':
      return started(record, event.pid, event.at, context);
    case 'exited':
      return exited(record, event, context);
    case 'spawn-failed':
      return spawnFailed(record, event, context);
    case 'tree-gone':
      return state.kind === 'stopping' && state.ended ? settle(record, state, context) : same(record);
    case 'stop':
      return stop(record, event.again, context);
    case 'rebooted':
      return rebooted(record, context);
    case 'woke':
      return woke(record, context);
    default:
      throw new Error(`no such event: ${JSON.stringify(event satisfies never)}`);
  }
}

function started(record: AgentRecord, pid: number, at: MonoMs, context: AgentContext): AgentStep {
  const { state } = record;
  const facts = { pid, startedAt: wallOf(at, context) };
  if (state.kind === 'stopping') return { ...same(moved(record, { ...state, pid }, context, facts)) };
  if (state.kind !== 'starting') return same(record); // adopted: known already
  const next = { kind: 'running', run: state.run, pid, startedAt: at, lived: false } as const;
  return { record: moved(record, next, context, facts), effects: [tell('agent.started', { pid })], end: null };
}

function stop(record: AgentRecord, again: boolean, context: AgentContext): AgentStep {
  const { state } = record;
  const { now, policy, wall } = context;
  switch (state.kind) {
    case 'starting':
    case 'running': {
      const { run } = state;
      const pid = state.kind === 'running' ? state.pid : null;
      const next = again
        ? ({ kind: 'backing-off', until: now, counts: false } as const)
        : ({ kind: 'stopped' } as const);
      const killAt = after(now, policy.stop.graceMs);
      const stopping = { kind: 'stopping', run, pid, killAt, after: next, ended: false } as const;
      const { signal } = policy.stop;
      const effects = [tell('agent.stopping', { signal }), { kind: 'signal', run, signal } as const];
      return { record: moved(record, stopping, context), effects, end: null };
    }
    case 'stopping': {
      const isWanted = !again && state.after.kind === 'backing-off';
      return isWanted ? { ...same(moved(record, { ...state, after: { kind: 'stopped' } }, context)) } : same(record);
    }
    case 'backing-off':
      if (again) return same(record);
      return {
        record: moved(record, { kind: 'stopped' }, context, { endedAt: wall }),
        effects: [tell('agent.stopped')],
        end: null,
      };
    default:
      return same(record);
  }
}

function woke(record: AgentRecord, context: AgentContext): AgentStep {
  const { state } = record;
  const at = agentWakesAt(state, context.policy);
  if (at === null || at > context.now) return same(record);
  if (state.kind === 'backing-off') return begin(record, state, context);
  if (state.kind === 'running') {
    const lived = moved(record, { ...state, lived: true }, context, { respawns: judged(record, state.run, true) });
    return { record: lived, effects: [{ kind: 'recovered' }], end: null };
  }
  if (state.kind !== 'stopping') return same(record);
  return {
    record: moved(record, { ...state, killAt: null }, context),
    effects: [{ kind: 'kill', run: state.run }],
    end: null,
  };
}

function begin(record: AgentRecord, { counts }: Pause, context: AgentContext): AgentStep {
  const run = context.newRun;
  const respawn = { at: context.wall, run, helped: null };
  const respawns = counts ? [...record.respawns, respawn] : record.respawns;
  const told = counts
    ? tell('agent.respawned', { number: respawns.length, of: context.maxRespawns })
    : tell('agent.spawned');
  const starting = { kind: 'starting', run } as const;
  return {
    record: moved(record, starting, context, { respawns, pid: null, startedAt: null }),
    effects: [told, { kind: 'start', run }],
    end: null,
  };
}

export interface NewAgent extends Pick<AgentRecord, 'name' | 'type' | 'task'> {
  /** What is remembered of the same task; null: nothing. */
  readonly before: AgentRecord | null;
  /** Its agent died elsewhere, and this is a respawn; otherwise somebody asked for it, and its budget is a fresh one. */
  readonly isRespawn: boolean;
}

const HOUR_MS = 3_600_000;

export function newAgent({ before, isRespawn, ...about }: NewAgent, context: AgentContext): AgentStep {
  const { bootId, wall, now } = context;
  const [used, earlier] = [before?.respawns ?? [], before?.earlier ?? []];
  const past = isRespawn ? earlier : [...earlier, ...used];
  const pause: Pause = { kind: 'backing-off', until: now, counts: isRespawn };
  const record: AgentRecord = {
    ...about,
    ...{ state: pause, bootId, spawnedAt: wall, startedAt: null, endedAt: null, pid: null },
    respawns: isRespawn ? used : [],
    earlier: past.filter(({ at }) => at > wall - HOUR_MS && at <= wall),
    ...{ lastExit: null, error: null },
  };
  return begin(record, pause, context);
}
