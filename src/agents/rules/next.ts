/**
 * What happens to an agent: one fact and its record in, its new record and what is to be done out. Pure. A run that lives goes by the
 * rules of components (`live-run.ts`); what its end leads to is for its task to say (`end.ts`).
 */

import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { AgentRecord, AgentState, Pause } from '../spec.ts';
import { exited, rebooted, settle, spawnFailed } from './end.ts';
import { duringRun, overrunGoesOn, timeIsUp, timeIsUpAt } from './live-run.ts';
import {
  type AgentContext,
  type AgentEvent,
  type AgentPolicy,
  type AgentStep,
  judged,
  type LiveEvent,
  moved,
  runOfAgent,
  same,
  tell,
  wallOf,
} from './step.ts';

/** When it wants to be woken; null: not at all. */
export function agentWakesAt(state: AgentState, policy: Pick<AgentPolicy, 'minUptimeMs' | 'timeoutMs'>): MonoMs | null {
  if (state.kind === 'backing-off') return state.until;
  if (state.kind === 'stopping') return state.killAt;
  if (state.kind !== 'running') return null;
  const times = [livedAt(state, policy), timeIsUpAt(state, policy)].filter((at) => at !== null);
  return times.length === 0 ? null : (Math.min(...times) as MonoMs);
}

type Running = Extract<AgentState, { kind: 'running' }>;

/** When it will have outlived `min_uptime`; null: it has, or is in no state to. */
const livedAt = ({ startedAt, lived, freeze }: Running, { minUptimeMs }: Pick<AgentPolicy, 'minUptimeMs'>) =>
  lived || freeze ? null : after(startedAt, minUptimeMs);

const isDue = (at: MonoMs | null, { now }: AgentContext): boolean => at !== null && at <= now;

export function nextOfAgent(record: AgentRecord, event: AgentEvent, context: AgentContext): AgentStep {
  const { state } = record;
  if ('run' in event && event.run !== runOfAgent(state)) return same(record); // of a run that is over
  switch (event.kind) {
    case 'exited':
      return exited(record, event, context);
    case 'spawn-failed':
      return spawnFailed(record, event, context);
    case 'tree-gone':
      return state.kind === 'stopping' && state.ended && state.after !== null
        ? settle(record, state.run, state.after, context)
        : same(record);
    case 'stop':
      return stop(record, event.again, context);
    case 'rebooted':
      return rebooted(record, context);
    case 'woke':
      return woke(record, context);
    default:
      return live(record, event, context);
  }
}

/** A fact about a run that lives. */
function live(record: AgentRecord, event: LiveEvent, context: AgentContext): AgentStep {
  const { state } = record;
  if (state.kind === 'running' && state.freeze?.timeout && OF_OVERRUN.has(event.kind))
    return overrunGoesOn(record, state, event, context);
  const isNew = event.kind === 'started' && state.kind !== 'running'; // otherwise adopted: known already
  return duringRun(
    record,
    event,
    context,
    isNew ? { pid: event.pid, startedAt: wallOf(event.at, context) } : undefined,
  );
}

/** Whose time is up is ended for that, whatever else there is to say of it. */
const OF_OVERRUN: ReadonlySet<string> = new Set(['silent', 'still-silent', 'examined', 'beat', 'over-soft-memory']);

function stop(record: AgentRecord, again: boolean, context: AgentContext): AgentStep {
  const { state } = record;
  const { now, wall } = context;
  switch (state.kind) {
    case 'starting':
    case 'running': {
      const next = again
        ? ({ kind: 'backing-off', until: now, counts: false } as const)
        : ({ kind: 'stopped' } as const);
      const step = duringRun(record, { kind: 'stop-requested' }, context);
      return { ...step, record: withAfter(step.record, next, context) };
    }
    case 'stopping': {
      if (again || (state.after !== null && state.after.kind !== 'backing-off')) return same(record);
      const step = state.ended ? same(record) : duringRun(record, { kind: 'stop-requested' }, context);
      return { ...step, record: withAfter(step.record, { kind: 'stopped' }, context) };
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

const withAfter = (record: AgentRecord, next: Pause | { kind: 'stopped' }, context: AgentContext): AgentRecord =>
  record.state.kind === 'stopping' ? moved(record, { ...record.state, after: next }, context) : record;

function woke(record: AgentRecord, context: AgentContext): AgentStep {
  const { state } = record;
  const { policy } = context;
  if (!isDue(agentWakesAt(state, policy), context)) return same(record);
  if (state.kind === 'backing-off') return begin(record, state, context);
  if (state.kind !== 'running') return duringRun(record, { kind: 'woke' }, context);
  if (isDue(timeIsUpAt(state, policy), context)) return timeIsUp(record, state, context);
  const lived = moved(record, { ...state, lived: true }, context, { respawns: judged(record, state.run, true) });
  return { record: lived, effects: [{ kind: 'recovered' }], end: null };
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
