/** Time that survives the daemon: monotonic times are only good within the boot they were read in. */

import type { BootId, MonoMs } from '../../base/pure/ids.ts';
import { resumed } from './freeze/freeze.ts';
import { NO_PROBES } from './health/probe.ts';
import { newHealth } from './health/run-health.ts';
import { type Component, type ComponentState, FRESH, INITIAL, type In } from './lifecycle/state.ts';

/**
 * What a stored component means to a daemon starting now. Another boot: budgets and backoff start fresh and nothing of it can be
 * running. Same boot: as it was, but times from the future (a restored disk image, a time namespace) are not believed.
 */
export function restore(stored: Component, storedBoot: BootId, boot: BootId, now: MonoMs): Component {
  if (storedBoot !== boot) return INITIAL;
  const { counters } = stored;
  const state = heard(complete(stored.state), now);
  const believable = counters.restarts.filter((at) => at <= now);
  const restored = { state, counters: { ...counters, restarts: believable } };
  const started =
    state.kind === 'running' || state.kind === 'stopping'
      ? state.startedAt
      : state.kind === 'starting'
        ? state.since
        : now;
  return started > now ? { ...restored, counters: FRESH } : restored;
}

/** Nobody has listened for a heartbeat while there was no daemon. */
const heard = (state: ComponentState, now: MonoMs): ComponentState =>
  state.kind === 'running' && state.freeze ? { ...state, freeze: resumed(state.freeze, now) } : state;

/** A record of a version without probes says nothing about health: what ran then was healthy once it had started. */
function complete(state: ComponentState): ComponentState {
  if (state.kind === 'running' && state.health === undefined)
    return { ...(state as In<'running'>), health: newHealth(NO_PROBES, (state as In<'running'>).startedAt) };
  if (state.kind === 'stopping' && state.healthySince === undefined) {
    const { ended, ...rest } = state as In<'stopping'>;
    return {
      ...rest,
      healthySince: null,
      unhealthy: null,
      ended: ended && { ...ended, healthyMs: 0, unhealthy: null },
    };
  }
  return state;
}
