/**
 * The run of an agent while it lives: started, silent, too large, asked to end, killed, all by the rules of components. Only the time
 * that one run may take is the agents' own.
 */

import { formatDuration } from '../../base/pure/format.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import {
  EVIDENCE_PATIENCE_MS,
  type Freeze,
  lookText,
  resumed,
  withStep,
} from '../../supervision/rules/freeze/freeze.ts';
import { NO_PROBES } from '../../supervision/rules/health/probe.ts';
import { newHealth } from '../../supervision/rules/health/run-health.ts';
import { next } from '../../supervision/rules/lifecycle/next.ts';
import {
  type ComponentEvent,
  type ComponentState,
  type Context,
  type Effect,
  FRESH,
  type TellType,
} from '../../supervision/rules/lifecycle/state.ts';
import type { AgentRecord, AgentState } from '../spec.ts';
import {
  type AgentContext,
  type AgentEffect,
  type AgentEventType,
  type AgentPolicy,
  type AgentStep,
  type LiveEvent,
  moved,
  same,
  tell,
} from './step.ts';

type Running = Extract<AgentState, { kind: 'running' }>;

/** One step by the rules of components. `more`: what else is known by it. */
export function duringRun(
  record: AgentRecord,
  event: ComponentEvent,
  context: AgentContext,
  more?: Partial<AgentRecord>,
): AgentStep {
  const before = asComponent(record.state, context.now);
  const { component, effects } = next({ state: before, counters: FRESH }, event, ofComponent(context));
  const { state } = component;
  if (state === before && effects.length === 0) return same(record);
  return {
    record: state === before ? record : moved(record, asAgent(record.state, state), context, more),
    effects: effects.flatMap(toAgent),
    end: null,
  };
}

/** The run of an agent as the rules of components, and those who listen to its heartbeat, see it. */
export function asComponent(state: AgentState, now: MonoMs): ComponentState {
  switch (state.kind) {
    case 'starting':
      return { kind: 'starting', run: state.run, since: now, attempt: 'first' };
    case 'running': {
      const { lived: _, ...run } = state;
      return { ...run, attempt: 'first', daemonised: false, health: newHealth(NO_PROBES, state.startedAt) };
    }
    case 'stopping': {
      const { run, pid, killAt, stage = killAt === null ? 'killed' : 'asked', unhealthy = null, freeze } = state;
      const facts = { run, pid, startedAt: now, attempt: 'first', healthySince: null, unhealthy, ended: null } as const;
      const alarm = freeze ? { freeze } : {};
      return { kind: 'stopping', ...facts, stage, until: killAt ?? now, goal: 'decide', ...alarm };
    }
    default:
      return { kind: 'stopped' };
  }
}

function asAgent(before: AgentState, state: ComponentState): AgentState {
  if (state.kind === 'running') {
    const { kind, run, startedAt, freeze } = state;
    const lived = before.kind === 'running' && before.lived;
    return { kind, run, pid: state.pid!, startedAt, lived, ...(freeze ? { freeze } : {}) };
  }
  if (state.kind !== 'stopping') throw new Error(`the run of an agent cannot be ${state.kind}`);
  const { kind, run, pid, stage, until: killAt, unhealthy, freeze } = state;
  const known = before.kind === 'stopping' ? before : { after: null, ended: false };
  return {
    ...{ kind, run, pid, stage, killAt, after: known.after, ended: known.ended },
    ...(unhealthy === null ? {} : { unhealthy }),
    ...(freeze ? { freeze } : {}),
  };
}

const ofComponent = ({ now, random, newRun, blind, policy, maxRespawns }: AgentContext): Context => ({
  ...{ now, random, newRun, unmet: [], blind: blind ?? false },
  policy: {
    driver: policy.process,
    restart: {
      // One that would not be respawned is not ended for its size.
      policy: maxRespawns === 0 ? 'never' : 'on-failure',
      backoff: policy.backoff,
      limit: { max: maxRespawns, withinMs: Infinity, retryMs: null },
      neverOn: policy.neverOn,
      dependents: false,
    },
    stop: policy.stop,
    minUptimeMs: 0,
    probes: NO_PROBES,
    ...(policy.heartbeat ? { heartbeat: policy.heartbeat } : {}),
  },
});

/** What is worth telling of an agent, too. */
const TOLD: Partial<Record<TellType, AgentEventType>> = {
  'component.started': 'agent.started',
  'component.stopping': 'agent.stopping',
  'component.unkillable': 'agent.unkillable',
  'component.frozen': 'agent.frozen',
  'component.examined': 'agent.examined',
  'component.thawed': 'agent.thawed',
  'component.over-soft-memory': 'agent.over-soft-memory',
};

function toAgent(effect: Effect): readonly AgentEffect[] {
  switch (effect.kind) {
    case 'signal':
    case 'examine':
      return [effect];
    case 'kill-tree':
      return [{ kind: 'kill', run: effect.run }];
    case 'tell': {
      const type = TOLD[effect.type];
      return type === undefined ? [] : [tell(type, effect.data)];
    }
    default:
      throw new Error(`not for the run of an agent: ${effect.kind}`);
  }
}

/** A daemon that comes back has heard nothing of it meanwhile. */
export const heardAgain = (record: AgentRecord, now: MonoMs): AgentRecord =>
  record.state.kind === 'running' && record.state.freeze
    ? { ...record, state: { ...record.state, freeze: resumed(record.state.freeze, now) } }
    : record;

// A run that takes longer than it may: its processes are examined first, so that somebody knows what took so long, and then it is ended.

/** When it has to be ended, or is not waited for any more; null: it may take as long as it likes. */
export function timeIsUpAt({ startedAt, freeze }: Running, { timeoutMs }: Pick<AgentPolicy, 'timeoutMs'>) {
  if (freeze?.timeout) return freeze.until;
  return timeoutMs === null ? null : after(startedAt, timeoutMs);
}

const OVERRAN = 'it ran longer than its timeout';
/** From the reason why a run was ended. */
export const hasOverrun = (unhealthy: string | null): boolean => unhealthy?.startsWith(OVERRAN) ?? false;

export function timeIsUp(record: AgentRecord, state: Running, context: AgentContext): AgentStep {
  const { now, policy } = context;
  const { run, freeze } = state;
  const timeoutMs = policy.timeoutMs ?? 0;
  if (freeze?.timeout) return endOverrun(record, state, freeze, context);
  const dump = policy.heartbeat?.dumpSignal ?? null;
  const reason = `${OVERRAN} of ${formatDuration(timeoutMs)}`;
  const overrun: Freeze = {
    ...{ timeout: true, noticedAt: now, silentSince: after(state.startedAt, timeoutMs), reason, stage: 'final' },
    until: after(now, EVIDENCE_PATIENCE_MS),
    dumped: (freeze?.dumped ?? false) || dump !== null,
    evidence: freeze?.evidence ?? null,
    steps: [...(freeze?.steps ?? []), { at: now, text: reason }],
  };
  const told = tell('agent.timed-out', { reason, timeout_ms: timeoutMs });
  // It was silent before, so what it is doing is known.
  if (overrun.evidence !== null) {
    const step = endOverrun(record, state, overrun, context);
    return { ...step, effects: [told, ...step.effects] };
  }
  const effects = [told, { kind: 'examine', run, dump } as const];
  return { record: moved(record, { ...state, freeze: overrun }, context), effects, end: null };
}

/** What it was doing is known by now; whatever else is said of it changes nothing. */
export function overrunGoesOn(record: AgentRecord, state: Running, event: LiveEvent, context: AgentContext): AgentStep {
  if (event.kind !== 'examined' || !state.freeze) return same(record);
  const { busy, stopped, evidence } = event;
  const known = withStep({ ...state.freeze, evidence }, lookText({ busy, stopped }), context.now);
  const step = endOverrun(record, state, known, context);
  const told = tell('agent.examined', { busy, stopped, lines: evidence.length, postponed_ms: null });
  return { ...step, effects: [told, ...step.effects] };
}

function endOverrun(record: AgentRecord, { run, pid }: Running, overrun: Freeze, context: AgentContext): AgentStep {
  const { now, policy } = context;
  const { signal, graceMs } = policy.stop;
  const { reason } = overrun;
  const freeze = withStep(overrun, `${signal} sent`, now);
  const stopping: AgentState = {
    ...{ kind: 'stopping', run, pid, stage: 'asked', killAt: after(now, graceMs), after: null, ended: false },
    ...{ unhealthy: reason, freeze },
  };
  return {
    record: moved(record, stopping, context),
    effects: [tell('agent.stopping', { signal, reason }), { kind: 'signal', run, signal }],
    end: null,
  };
}
