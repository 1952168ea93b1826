/** How components stand, for whoever decides whether they are well again. */

import type { MonoMs } from '../base/pure/ids.ts';
import type { ComponentRunner } from './component-runner.ts';
import { healthOf } from './rules/status.ts';
import { type Unwell, unwellOf } from './rules/unwell.ts';

export interface ComponentSnapshot {
  readonly name: string;
  readonly state: ComponentRunner['component']['state']['kind'];
  /** Healthy, ready, not frozen, and heard in this run if it has a heartbeat. */
  readonly isWell: boolean;
  /** How long its run is known to go on: with a heartbeat until its last beat. 0: it does not, or nothing is known yet. */
  readonly upMs: number;
  readonly minUptimeMs: number;
  /** False: somebody stopped it by hand, and it did stop. */
  readonly isWanted: boolean;
  /** What is wrong with it now; null: it is well, has completed, or nobody wants it to run. */
  readonly unwell: Unwell | null;
}

export function snapshotOf(runner: ComponentRunner, now: MonoMs): ComponentSnapshot {
  const { name, spec, component, beatAt } = runner;
  const view = runner.view();
  const unwell = unwellOf(view);
  const { state } = component;
  const { health, ready } = healthOf(state);
  const isFrozen = state.kind === 'running' && state.freeze !== undefined;
  // What freezes is healthy until its silence has lasted: only a beat tells that it goes on.
  const knownUntil = spec.heartbeat === undefined ? now : beatAt;
  return {
    name,
    state: state.kind,
    isWell: state.kind === 'running' && health === 'healthy' && ready && !isFrozen && knownUntil !== null,
    upMs: state.kind === 'running' && knownUntil !== null ? Math.max(0, knownUntil - state.startedAt) : 0,
    minUptimeMs: spec.minUptimeMs,
    isWanted: view.desired === 'running' || unwell !== null,
    unwell,
  };
}
