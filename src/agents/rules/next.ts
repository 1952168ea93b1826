/** What happens to an agent: one fact and its record in, its new record and what is to be done out. Pure. */

import { type ExitCause, exitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { after, type MonoMs, type RunId } from '../../base/pure/ids.ts';
import { delayMs } from '../../supervision/rules/restart/decide.ts';
import type { AgentEndState, AgentRecord, AgentState, AgentType, Pause } from '../spec.ts';
import {
  type AgentContext,
  type AgentEffect,
  type AgentEnd,
  type AgentEvent,
  type AgentStep,
  judged,
  moved,
  runOfAgent,
  same,
  tell,
  wallOf,
} from './step.ts';

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

// An agent whose run is over: by itself, because it never began, or because the machine was restarted.

const REBOOT: ExitCause = { kind: 'unknown', why: 'the machine was restarted' };

type Exited = Extract<AgentEvent, { kind: 'exited' }>;

export function exited(record: AgentRecord, event: Exited, context: AgentContext): AgentStep {
  const { state } = record;
  if (!('run' in state)) return same(record);
  const { run, at, cause, leftovers } = event;
  // Another daemon recorded its end already; what it left behind may be gone by now.
  if (state.kind === 'stopping' && state.ended)
    return leftovers.length === 0 ? settle(record, state, context) : same(record);
  const verdict = judge(record, cause, context);
  const startedAt = state.kind === 'running' ? state.startedAt : null;
  const uptimeMs = startedAt === null ? upSince(record, at, context) : Math.max(0, at - startedAt);
  const end: AgentEnd = { run, at, uptimeMs, cause, ...verdict.end };
  const exit = { at: wallOf(at, context), exit: exitView(cause) };
  const known = { lastExit: exit, respawns: judged(record, run, verdict.helped) };
  const stopping = {
    kind: 'stopping',
    run,
    pid: null,
    killAt: after(context.now, context.policy.stop.graceMs),
    after: verdict.next,
    ended: true,
  } as const;
  const between = { ...record, ...known };
  if (leftovers.length === 0) {
    const settled = settle(between, stopping, context);
    return { record: settled.record, effects: [...verdict.effects, ...settled.effects], end };
  }
  const { signal } = context.policy.stop;
  const ending = [tell('agent.leftovers', { pids: leftovers }), { kind: 'signal', run, signal } as const];
  return { record: moved(between, stopping, context), effects: [...verdict.effects, ...ending], end };
}

/** Its start was told to another daemon, or never; the record says when. */
const upSince = ({ startedAt }: AgentRecord, at: MonoMs, context: AgentContext): number =>
  startedAt === null ? 0 : Math.max(0, wallOf(at, context) - startedAt);

type Stopping = Extract<AgentState, { kind: 'stopping' }>;

/** All of the run is gone. */
export function settle(record: AgentRecord, { run, after: next }: Stopping, context: AgentContext): AgentStep {
  const isOver = next.kind !== 'backing-off';
  const told = next.kind === 'stopped' ? [tell('agent.stopped')] : [];
  const more = isOver ? { endedAt: context.wall } : {};
  return { record: moved(record, next, context, more), effects: [...told, { kind: 'release', run }], end: null };
}

type SpawnFailed = Extract<AgentEvent, { kind: 'spawn-failed' }>;

/** A start that can be tried again is nobody's crash; one that cannot heal counts like one. */
export function spawnFailed(record: AgentRecord, { run, problem }: SpawnFailed, context: AgentContext): AgentStep {
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
    ...{ run, at: context.now, uptimeMs: 0, cause, crash: false, planned: false, rule: 'spawn-retry' },
    decision: wait === 0 ? 'start again at once' : `try again in ${formatDuration(wait)}`,
  };
  return { record: moved(record, next, context, { respawns }), effects: [{ kind: 'release', run }], end };
}

/** The machine is short of something: waits as after the third failure. */
const RETRY_STEP = 2;

/** Its end was the machine's, so it is no crash; but what takes the machine down must not do so for ever: its respawn counts. */
export function rebooted(record: AgentRecord, context: AgentContext): AgentStep {
  const { state } = record;
  if (state.kind === 'backing-off') return same(moved(record, { ...state, until: context.now }, context));
  if (!('run' in state)) return same(moved(record, state, context));
  const { run } = state;
  if (state.kind === 'stopping') {
    const next = state.after.kind === 'backing-off' ? { ...state.after, until: context.now } : state.after;
    return withEnd(
      settle(record, { ...state, after: next }, context),
      state.ended ? null : lost(run, context, 'ended with the machine'),
    );
  }
  const isLeft = record.respawns.length < context.maxRespawns;
  const next: Stopping['after'] = isLeft
    ? { kind: 'backing-off', until: context.now, counts: true }
    : { kind: 'gave-up' };
  const decision = isLeft
    ? `the machine was restarted: respawn at once (${record.respawns.length + 1} of ${context.maxRespawns})`
    : 'the machine was restarted: gave up, its respawns are used up';
  const settled = settle(
    { ...record, respawns: judged(record, run, null), lastExit: { at: context.wall, exit: exitView(REBOOT) } },
    { kind: 'stopping', run, pid: null, killAt: null, after: next, ended: true },
    context,
  );
  const told = [
    tell('agent.interrupted', { why: 'the machine was restarted' }),
    ...(isLeft ? [] : [tell('agent.gave-up')]),
  ];
  return withEnd({ ...settled, effects: [...told, ...settled.effects] }, lost(run, context, decision));
}

const lost = (run: RunId, { now }: AgentContext, decision: string): AgentEnd => ({
  ...{ run, at: now, uptimeMs: 0, cause: REBOOT, crash: false, planned: true },
  rule: 'planned-stop',
  decision,
});

const withEnd = (step: AgentStep, end: AgentEnd | null): AgentStep => ({ ...step, end });

// What the end of an agent's run leads to.

export interface Verdict {
  readonly next: Pause | { readonly kind: AgentEndState };
  readonly end: Pick<AgentEnd, 'crash' | 'planned' | 'rule' | 'decision'>;
  /** The respawn it was; null: it does not say anything about it. */
  readonly helped: boolean | null;
  readonly effects: readonly AgentEffect[];
}

export function judge(record: AgentRecord, cause: ExitCause, context: AgentContext): Verdict {
  const { state } = record;
  if (state.kind === 'stopping') {
    const end = { crash: false, planned: true, rule: 'planned-stop', decision: 'it was asked to stop' } as const;
    return { next: state.after, end, helped: null, effects: [] };
  }
  if (cause.kind === 'code' && cause.code === 0) {
    const end = { crash: false, planned: false, rule: 'clean-exit', decision: 'its task is done' } as const;
    return { next: { kind: 'finished' }, end, helped: true, effects: [{ kind: 'recovered' }, tell('agent.finished')] };
  }
  const exit = exitView(cause);
  const helped = state.kind === 'running' && state.lived ? null : false;
  const { maxRespawns } = context;
  if (record.respawns.length >= maxRespawns) {
    const many = maxRespawns === 1 ? 'its one respawn is used up' : `its ${maxRespawns} respawns are used up`;
    const used = maxRespawns === 0 ? 'it is not to be respawned' : many;
    const end = { crash: true, planned: false, rule: 'limit', decision: `gave up: ${used}` } as const;
    return {
      next: { kind: 'gave-up' },
      end,
      helped,
      effects: [tell('agent.crashed', { exit }), tell('agent.gave-up')],
    };
  }
  const delay = delayMs(context.policy.backoff, record.respawns.length, context.random);
  const number = record.respawns.length + 1;
  const decision = `respawn in ${formatDuration(delay)} (${number} of ${maxRespawns})`;
  return {
    next: { kind: 'backing-off', until: after(context.now, delay), counts: true },
    end: { crash: true, planned: false, rule: 'backoff', decision },
    helped,
    effects: [tell('agent.crashed', { exit })],
  };
}
