/**
 * What happens to an agent: one fact and its record in, its new record and what is to be done out. Pure. A run that lives goes by the
 * rules of components (`live-run.ts`); what its end leads to is for its task to say.
 */

import { type ExitCause, exitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { after, type MonoMs, type RunId } from '../../base/pure/ids.ts';
import { delayMs, listed, named } from '../../supervision/rules/restart/decide.ts';
import type { AgentRecord, AgentState, Following, Pause } from '../spec.ts';
import { duringRun, overrunGoesOn, timeIsUp, timeIsUpAt } from './live-run.ts';
import {
  type AgentContext,
  type AgentEffect,
  type AgentEnd,
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

// An agent whose run is over: by itself, because we ended it, because it never began, or because the machine was restarted.

const REBOOT: ExitCause = { kind: 'unknown', why: 'the machine was restarted' };

type Exited = Extract<AgentEvent, { kind: 'exited' }>;

function exited(record: AgentRecord, event: Exited, context: AgentContext): AgentStep {
  const { state } = record;
  if (!('run' in state)) return same(record);
  const { run, at, cause, leftovers } = event;
  // Another daemon recorded its end already; what it left behind may be gone by now.
  if (state.kind === 'stopping' && state.ended)
    return leftovers.length === 0 && state.after ? settle(record, run, state.after, context) : same(record);
  const verdict = judge(record, cause, context);
  const startedAt = state.kind === 'running' ? state.startedAt : null;
  const uptimeMs = startedAt === null ? upSince(record, at, context) : Math.max(0, at - startedAt);
  const freeze = 'freeze' in state && state.freeze ? { freeze: state.freeze } : {};
  const unhealthy = unhealthyOf(state);
  const end: AgentEnd = { run, at, uptimeMs, cause, unhealthy, ...freeze, ...verdict.end };
  const exit = { at: wallOf(at, context), exit: exitView(cause, unhealthy) };
  const between = { ...record, lastExit: exit, respawns: judged(record, run, verdict.helped) };
  if (leftovers.length === 0) {
    const settled = settle(between, run, verdict.next, context);
    return { record: settled.record, effects: [...verdict.effects, ...settled.effects], end };
  }
  const { signal, graceMs } = context.policy.stop;
  const stopping: AgentState = {
    ...{ kind: 'stopping', run, pid: null, stage: 'asked', killAt: after(context.now, graceMs) },
    ...{ after: verdict.next, ended: true },
  };
  const ending = [tell('agent.leftovers', { pids: leftovers }), { kind: 'signal', run, signal } as const];
  return { record: moved(between, stopping, context), effects: [...verdict.effects, ...ending], end };
}

/** Why we ended it by ourselves; null: we did not. One that was sent the dump signal may well have died of it. */
function unhealthyOf(state: AgentState): string | null {
  if (state.kind === 'stopping') return state.unhealthy ?? null;
  return state.kind === 'running' && state.freeze?.dumped ? state.freeze.reason : null;
}

/** Its start was told to another daemon, or never; the record says when. */
const upSince = ({ startedAt }: AgentRecord, at: MonoMs, context: AgentContext): number =>
  startedAt === null ? 0 : Math.max(0, wallOf(at, context) - startedAt);

/** All of the run is gone. */
function settle(record: AgentRecord, run: RunId, next: Following, context: AgentContext): AgentStep {
  const isOver = next.kind !== 'backing-off';
  const told = next.kind === 'stopped' ? [tell('agent.stopped')] : [];
  const more = isOver ? { endedAt: context.wall } : {};
  return { record: moved(record, next, context, more), effects: [...told, { kind: 'release', run }], end: null };
}

type SpawnFailed = Extract<AgentEvent, { kind: 'spawn-failed' }>;

/** A start that can be tried again is nobody's crash; one that cannot heal counts like one. */
function spawnFailed(record: AgentRecord, { run, problem }: SpawnFailed, context: AgentContext): AgentStep {
  const { state } = record;
  const cause: ExitCause = { kind: 'spawn-failed', problem };
  if (state.kind === 'stopping' || !problem.heals) {
    return exited(record, { kind: 'exited', run, at: context.now, cause, leftovers: [] }, context);
  }
  const { backoff } = context.policy;
  const wait = problem.code === 'cancelled' ? 0 : delayMs(backoff, RETRY_STEP, context.random);
  const counted = record.respawns.at(-1)?.run === run;
  const next: Pause = { kind: 'backing-off', until: after(context.now, wait), counts: counted };
  // It never began, so it was no respawn yet.
  const respawns = counted ? record.respawns.slice(0, -1) : record.respawns;
  const end: AgentEnd = {
    ...{ run, at: context.now, uptimeMs: 0, cause, unhealthy: null, crash: false, planned: false, rule: 'spawn-retry' },
    decision: wait === 0 ? 'start again at once' : `try again in ${formatDuration(wait)}`,
  };
  return { record: moved(record, next, context, { respawns }), effects: [{ kind: 'release', run }], end };
}

/** The machine is short of something: waits as after the third failure. */
const RETRY_STEP = 2;

/** Its end was the machine's, so it is no crash; but what takes the machine down must not do so for ever: its respawn counts. */
function rebooted(record: AgentRecord, context: AgentContext): AgentStep {
  const { state } = record;
  if (state.kind === 'backing-off') return same(moved(record, { ...state, until: context.now }, context));
  if (!('run' in state)) return same(moved(record, state, context));
  const { run } = state;
  if (state.kind === 'stopping' && state.after !== null) {
    const next = state.after.kind === 'backing-off' ? { ...state.after, until: context.now } : state.after;
    return withEnd(
      settle(record, run, next, context),
      state.ended ? null : lost(run, context, 'ended with the machine'),
    );
  }
  const isLeft = record.respawns.length < context.maxRespawns;
  const next: Following = isLeft ? { kind: 'backing-off', until: context.now, counts: true } : { kind: 'gave-up' };
  const decision = isLeft
    ? `the machine was restarted: respawn at once (${record.respawns.length + 1} of ${context.maxRespawns})`
    : 'the machine was restarted: gave up, its respawns are used up';
  const lastExit = { at: context.wall, exit: exitView(REBOOT) };
  const settled = settle({ ...record, respawns: judged(record, run, null), lastExit }, run, next, context);
  const told = [
    tell('agent.interrupted', { why: 'the machine was restarted' }),
    ...(isLeft ? [] : [tell('agent.gave-up')]),
  ];
  return withEnd({ ...settled, effects: [...told, ...settled.effects] }, lost(run, context, decision));
}

const lost = (run: RunId, { now }: AgentContext, decision: string): AgentEnd => ({
  ...{ run, at: now, uptimeMs: 0, cause: REBOOT, unhealthy: null, crash: false, planned: true },
  rule: 'planned-stop',
  decision,
});

const withEnd = (step: AgentStep, end: AgentEnd | null): AgentStep => ({ ...step, end });

// What the end of an agent's run leads to.

interface Verdict {
  readonly next: Following;
  readonly end: Pick<AgentEnd, 'crash' | 'planned' | 'rule' | 'decision'>;
  /** The respawn it was; null: it does not say anything about it. */
  readonly helped: boolean | null;
  readonly effects: readonly AgentEffect[];
}

function judge(record: AgentRecord, cause: ExitCause, context: AgentContext): Verdict {
  const { state } = record;
  const unhealthy = unhealthyOf(state);
  const exit = exitView(cause, unhealthy);
  const crashed = tell('agent.crashed', { exit });
  if (state.kind === 'stopping' && state.after !== null) {
    // It was frozen, or had run too long, before anybody asked.
    const crash = unhealthy !== null;
    const end = { crash, planned: true, rule: 'planned-stop', decision: 'it was asked to stop' } as const;
    return { next: state.after, end, helped: crash ? false : null, effects: crash ? [crashed] : [] };
  }
  if (unhealthy === null && cause.kind === 'code' && cause.code === 0) {
    const end = { crash: false, planned: false, rule: 'clean-exit', decision: 'its task is done' } as const;
    return { next: { kind: 'finished' }, end, helped: true, effects: [{ kind: 'recovered' }, tell('agent.finished')] };
  }
  const helped = state.kind === 'running' && state.lived ? null : false;
  const { maxRespawns, policy } = context;
  // A signal that we sent ourselves says nothing about the agent.
  if (unhealthy === null && listed(cause, policy.neverOn)) {
    const why = `${named(cause)} is listed in never_on`;
    const end = { crash: true, planned: false, rule: 'never-on', decision: `gave up: ${why}` } as const;
    return { next: { kind: 'gave-up' }, end, helped, effects: [crashed, tell('agent.gave-up', { why })] };
  }
  if (record.respawns.length >= maxRespawns) {
    const many = maxRespawns === 1 ? 'its one respawn is used up' : `its ${maxRespawns} respawns are used up`;
    const used = maxRespawns === 0 ? 'it is not to be respawned' : many;
    const end = { crash: true, planned: false, rule: 'limit', decision: `gave up: ${used}` } as const;
    return { next: { kind: 'gave-up' }, end, helped, effects: [crashed, tell('agent.gave-up')] };
  }
  const delay = delayMs(policy.backoff, record.respawns.length, context.random);
  const number = record.respawns.length + 1;
  const decision = `respawn in ${formatDuration(delay)} (${number} of ${maxRespawns})`;
  return {
    next: { kind: 'backing-off', until: after(context.now, delay), counts: true },
    end: { crash: true, planned: false, rule: 'backoff', decision },
    helped,
    effects: [crashed],
  };
}
