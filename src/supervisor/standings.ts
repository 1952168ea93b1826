/** How components stand, for whoever decides whether they are well again. */

import type { MonoMs } from '../core/ids.ts';
import { healthOf } from '../core/status.ts';
import type { ComponentRunner } from './component-runner.ts';

export interface Standing {
  readonly name: string;
  readonly state: ComponentRunner['component']['state']['kind'];
  /** Healthy, ready and not frozen. */
  readonly isWell: boolean;
  /** How long its run goes on; 0: it does not. */
  readonly upMs: number;
  readonly minUptimeMs: number;
  /** Nobody wants it to run. */
  readonly isUnwanted: boolean;
}

export const standingOf = ({ name, spec, component, desired }: ComponentRunner, now: MonoMs): Standing => {
  const { state } = component;
  const { health, ready } = healthOf(state);
  const isFrozen = state.kind === 'running' && state.freeze !== undefined;
  return {
    name,
    state: state.kind,
    isWell: state.kind === 'running' && health === 'healthy' && ready && !isFrozen,
    upMs: state.kind === 'running' ? Math.max(0, now - state.startedAt) : 0,
    minUptimeMs: spec.minUptimeMs,
    isUnwanted: desired === 'stopped',
  };
};
