/**
 * A run of which nothing can or may be asked: its Engine does not answer, or somebody paused it. It is neither ended nor restarted
 * for that, and nobody may rely on it until it has been seen again.
 */

import type { MonoMs } from '../../../base/pure/ids.ts';
import { isReady } from '../health/run-health.ts';
import type { Component, ComponentEvent, ComponentState, Context, Hold, Step } from './state.ts';
import { stay, step, tell } from './transitions.ts';

type Held = Extract<ComponentEvent, { kind: 'held' }>;

/** Why a run is held whose daemon has just begun. */
const UNSEEN = 'not checked yet by this daemon';

export function whenHeld(component: Component, { run, why }: Held, { now }: Context): Step {
  const { state, counters } = component;
  if (!('run' in state) || state.run !== run) return stay(component);
  const { hold, ...free } = state;
  const wasTold = hold !== undefined && !hold.unseen;
  const wouldBeReady = state.kind === 'running' && isReady(state.health);
  if (why === null) {
    const told = wasTold && wouldBeReady ? [tell('component.ready', run, {})] : [];
    return hold ? step(free, counters, ...told) : stay(component);
  }
  if (wasTold && hold.why === why) return stay(component);
  const told = !wasTold && wouldBeReady ? [tell('component.not-ready', run, { reason: why })] : [];
  return step({ ...state, hold: { why, since: hold?.since ?? now } }, counters, ...told);
}

/** What an earlier daemon wrote down about a run that only an Engine can tell of: true again once it was looked at. */
export function unseen(component: Component, now: MonoMs): Component {
  const { state } = component;
  if (!('run' in state) || state.hold) return component;
  return { ...component, state: { ...state, hold: { why: UNSEEN, since: now, unseen: true } } };
}

/** It has been looked at: that is what a start, also one of an earlier daemon, says of it. */
export function seen<S extends { readonly hold?: Hold }>(state: S): S {
  if (!state.hold?.unseen) return state;
  const { hold: _, ...rest } = state;
  return rest as S;
}

export const holdOf = (state: ComponentState): Hold | null => ('run' in state ? (state.hold ?? null) : null);
