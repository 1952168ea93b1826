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
  const { name, spec, component, beatAt, desired } = runner;
  const { state } = component;
  const { health, ready } = healthOf(state);
  const isFrozen = state.kind === 'running' && state.freeze !== undefined;
  const isUsable = state.kind === 'running' && health === 'healthy' && ready && !isFrozen;
  // All are looked at every two seconds, and nearly all are like this: nothing more has to be found out about a process of ours.
  const isPlain = isUsable && spec.driver.kind === 'process' && !runner.isDoubted;
  const unwell = isPlain ? null : unwellOf(runner.view());
  // What freezes is healthy until its silence has lasted: only a beat tells that it goes on.
  const knownUntil = spec.heartbeat === undefined ? now : beatAt;
  return {
    name,
    state: state.kind,
    isWell: isUsable && knownUntil !== null,
    upMs: state.kind === 'running' && knownUntil !== null ? Math.max(0, knownUntil - state.startedAt) : 0,
    minUptimeMs: spec.minUptimeMs,
    isWanted: desired === 'running' || unwell !== null,
    unwell,
  };
}
