/** Faults of the machine that keep components from being started, from the first to the first start that succeeds again. */

import type { MonoMs } from '../base/pure/ids.ts';
import type { ComponentState } from './rules/lifecycle/state.ts';

/** A single failure says little: what is over within this needs no announcement, its next try comes as soon. */
const WORTH_TELLING_MS = 1_000;

export class MachineFaults {
  #since: MonoMs | null = null;

  /** One component went from one state to the other. Returns since when there was a fault that is over with this; null: none is. */
  noted(before: ComponentState, state: ComponentState, now: MonoMs): MonoMs | null {
    if (state.kind === 'backing-off' && state.machine) this.#since ??= now;
    const since = this.#since;
    const isStarted = before.kind === 'starting' && state.kind === 'running';
    if (since === null || !isStarted || now - since < WORTH_TELLING_MS) return null;
    this.#since = null;
    return since;
  }
}
