/** A run whose heartbeat is overdue: noted, looked at, given its time once more when it is busy, and ended step by step. */
import { afterLook, FREEZE_STEP_MS, type Freeze, lastChance, mayGoOn, newFreeze, withStep } from '../freeze/freeze.ts';
import { describeSource } from '../freeze/heartbeat.ts';
import { after, type MonoMs } from '../../../base/pure/ids.ts';
import { isObserved } from '../restart/decide.ts';
import type { Component, ComponentEvent, Context, Effect, In, Step } from './state.ts';
import { type Live, stay, step, stopping, tell, withMain } from './transitions.ts';

type AlarmEvent = Extract<ComponentEvent, { kind: 'started' | 'silent' | 'still-silent' | 'examined' | 'beat' }>;

export function whenAlarmed(component: Component, state: In<'running'>, event: AlarmEvent, context: Context): Step {
  const { freeze } = state;
  switch (event.kind) {
    case 'silent':
      return freeze ? stay(component) : notice(component, state, event, context);
    case 'started': // adopted: the daemon that noticed it may have ended before it had looked
      return freeze?.evidence === null ? { component, effects: [examine(state, context)] } : stay(component);
    case 'beat':
      return freeze ? thaw(component, state, freeze, context) : stay(component);
    case 'examined':
      return freeze ? learn(component, state, freeze, event, context) : stay(component);
    case 'still-silent':
      return freeze && mayGoOn(freeze, context.now) ? goOn(component, state, freeze, context) : stay(component);
    default:
      throw new Error(`no such event: ${JSON.stringify(event satisfies never)}`);
  }
}

function notice(
  component: Component,
  state: In<'running'>,
  { since, note }: Extract<AlarmEvent, { kind: 'silent' }>,
  context: Context,
): Step {
  const { heartbeat } = context.policy;
  if (!heartbeat || !state.health.started) return stay(component);
  const freeze = newFreeze(heartbeat, since, note, context.now);
  const { reason } = freeze;
  const silent_ms = Math.round(context.now - since);
  const told = tell('component.frozen', state.run, { reason, silent_ms, source: describeSource(heartbeat.source) });
  return step({ ...state, freeze }, component.counters, told, examine(state, context));
}

const examine = ({ run }: In<'running'>, { policy }: Context): Effect => ({
  ...{ kind: 'examine', run },
  dump: policy.heartbeat?.dumpSignal ?? null,
});

function thaw({ counters }: Component, state: In<'running'>, freeze: Freeze, { now }: Context): Step {
  const { freeze: _, ...thawed } = state;
  const silent_ms = Math.round(now - freeze.silentSince);
  return step(thawed, counters, tell('component.thawed', state.run, { reason: 'it beats again', silent_ms }));
}

function learn(
  component: Component,
  state: In<'running'>,
  freeze: Freeze,
  { busy, stopped, evidence }: Extract<AlarmEvent, { kind: 'examined' }>,
  { policy, now }: Context,
): Step {
  if (!policy.heartbeat) return stay(component);
  const known = afterLook(freeze, { busy, stopped, evidence }, policy.heartbeat, now);
  const isPostponed = known.stage !== freeze.stage;
  const told = tell('component.examined', state.run, {
    ...{ busy, stopped, lines: evidence.length },
    postponed_ms: isPostponed ? policy.heartbeat.freezeAfterMs : null,
  });
  return step({ ...state, freeze: known }, component.counters, told);
}

/** What is only observed stays as it is: frozen, until it is heard again. */
function goOn(component: Component, state: In<'running'>, freeze: Freeze, context: Context): Step {
  const { policy, now } = context;
  if (isObserved(policy)) return stay(component);
  if (freeze.stage === 'postponed')
    return step({ ...state, freeze: lastChance(freeze, now) }, component.counters, examine(state, context));
  const isOurs = policy.driver.kind !== 'external';
  const signal = isOurs ? INTERRUPT : policy.stop.signal;
  const text = isOurs ? `${signal} sent` : 'its recovery command is next';
  const live = frozenLive(state, withStep(freeze, text, now), context);
  const { state: stops, effects } = stopping(live, 'decide', context);
  const told = tell('component.stopping', state.run, { signal, reason: freeze.reason });
  if (!isOurs) return step(stops, component.counters, told, ...effects);
  const interrupted = { ...stops, stage: 'interrupted', until: after(now, FREEZE_STEP_MS) } as const;
  return step(interrupted, component.counters, told, { kind: 'signal', run: state.run, signal });
}

/** Not the stop signal at once: many programs answer SIGINT with a stack, and some only listen to this one while they wait. */
const INTERRUPT = 'SIGINT';

/** The time it was silent was no healthy time, whatever its probes said: it forgives no earlier failure. */
function frozenLive(state: In<'running'>, freeze: Freeze, context: Context): Live {
  const { healthySince } = state.health;
  const silentMs = Math.max(0, context.now - freeze.silentSince);
  const live = withMain({ ...state, freeze }, context);
  return {
    ...live,
    unhealthy: freeze.reason,
    healthySince: healthySince === null ? null : (Math.min(context.now, healthySince + silentMs) as MonoMs),
    ...(live.ended ? { ended: { ...live.ended, unhealthy: freeze.reason } } : {}),
  };
}
