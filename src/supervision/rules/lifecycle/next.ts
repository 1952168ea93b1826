/** The whole behaviour of a component: next(component, event, context) → the component afterwards, and what to do. Nothing is done here. */

import type { MonoMs } from '../../../base/pure/ids.ts';
import { isReady, newHealth } from '../health/run-health.ts';
import {
  type Component,
  type ComponentEvent,
  type ComponentState,
  type Context,
  fresh,
  type In,
  type Step,
} from './state.ts';
import {
  afterEnd,
  begin,
  isDue,
  type Live,
  neverBegan,
  stay,
  step,
  tell,
  toStopped,
  toStopping,
} from './transitions.ts';
import { seen, whenHeld } from './when-held.ts';
import { mainEnded, whenRunning } from './when-running.ts';
import { whenStopping } from './when-stopping.ts';

export function next(component: Component, event: ComponentEvent, context: Context): Step {
  const { state } = component;
  if (event.kind === 'held') return whenHeld(component, event, context);
  if (event.kind === 'anew-requested') return step(state, { ...component.counters, anew: true });
  switch (state.kind) {
    case 'stopped':
    case 'completed':
    case 'gave-up':
      return whenIdle(component, event, context);
    case 'waiting':
    case 'backing-off':
      return whenPending(component, event, context);
    case 'starting':
      return whenStarting(component, state, event, context);
    case 'running':
      return whenRunning(component, state, event, context);
    case 'stopping':
      return whenStopping(component, state, event, context);
    default:
      throw new Error(`no such state: ${JSON.stringify(state satisfies never)}`);
  }
}

/** When this state wants to be woken; null: it waits for facts, not for time. */
export function wakeAt(state: ComponentState): MonoMs | null {
  switch (state.kind) {
    case 'backing-off':
    case 'stopping':
      return state.until;
    case 'gave-up':
      return state.retryAt;
    default:
      return null;
  }
}

function whenIdle(component: Component, event: ComponentEvent, context: Context): Step {
  const { state, counters } = component;
  switch (event.kind) {
    case 'start-requested':
      if (event.fresh) return begin(fresh(counters), 'first', context);
      return state.kind === 'stopped' ? begin(counters, 'first', context) : stay(component);
    case 'restart-requested':
      return event.byHand ? begin(fresh(counters), 'first', context) : stay(component);
    case 'stop-requested':
      return state.kind === 'stopped' ? stay(component) : toStopped(counters);
    case 'machine-recovered':
      return state.kind === 'gave-up' && state.retryAt !== null && (state.since ?? 0) >= event.since
        ? begin(counters, 'quiet', context)
        : stay(component);
    case 'woke':
      return state.kind === 'gave-up' && isDue(state.retryAt, context)
        ? begin(counters, 'quiet', context)
        : stay(component);
    default:
      return stay(component);
  }
}

function whenPending(component: Component, event: ComponentEvent, context: Context): Step {
  const { state, counters } = component;
  switch (event.kind) {
    case 'start-requested':
      return event.fresh ? begin(fresh(counters), 'first', context) : stay(component);
    case 'restart-requested':
      return event.byHand ? begin(fresh(counters), 'first', context) : stay(component);
    case 'stop-requested':
      return toStopped(counters);
    case 'dependencies-changed':
      return state.kind === 'waiting' && context.unmet.length === 0
        ? begin(counters, state.attempt, context)
        : stay(component);
    case 'machine-recovered':
      return state.kind === 'backing-off' && state.machine ? begin(counters, 'restart', context) : stay(component);
    case 'woke':
      return state.kind === 'backing-off' && isDue(state.until, context)
        ? begin(counters, 'restart', context)
        : stay(component);
    default:
      return stay(component);
  }
}

function whenStarting(component: Component, state: In<'starting'>, event: ComponentEvent, context: Context): Step {
  const { counters } = component;
  const { run, attempt, since } = state;
  const { hold } = seen(state);
  const held = hold ? { hold } : {};
  const live: Live = { run, attempt, pid: null, startedAt: since, healthySince: null, ...held };
  switch (event.kind) {
    case 'started': {
      if (event.run !== run) return stay(component);
      const { pid, at } = event;
      const health = newHealth(context.policy.probes, at, event.health);
      const facts = { run, pid, startedAt: at, attempt, health, ...held };
      const running: ComponentState = { kind: 'running', daemonised: false, ...facts };
      const ready = isReady(health) && !hold ? [tell('component.ready', run, {})] : [];
      const { anew: _, ...kept } = counters;
      return step(running, { ...kept, spawnErrors: 0 }, tell('component.started', run, { pid }), ...ready);
    }
    case 'spawn-failed':
      if (event.run !== run) return stay(component);
      return afterEnd(counters, { run, attempt, ...neverBegan(event.problem, context) }, context);
    case 'exited':
      if (event.run !== run) return stay(component);
      return mainEnded(component, live, event, context);
    case 'stop-requested':
      return toStopping(counters, live, 'stay-stopped', context);
    case 'restart-requested':
      return toStopping(event.byHand ? fresh(counters) : counters, live, 'start-again', context);
    default:
      return stay(component);
  }
}
