/** What the answers of all probes of a run come to. Kept in the component's state, so that it outlives the daemon. */

import type { MonoMs } from '../../../base/pure/ids.ts';
import type { HealthVerdict } from '../container-health.ts';
import type { ProbesSpec, Role } from './probe.ts';

export interface RunHealth {
  /** The startup probe has passed, or there is none. The other probes begin then. */
  readonly started: boolean;
  /** Null: liveness has not answered yet. */
  readonly alive: boolean | null;
  readonly ready: boolean;
  /** Since when it is started and alive without a break. */
  readonly healthySince: MonoMs | null;
  /** What Docker's own health check says; absent: there is none. */
  readonly docker?: Exclude<HealthVerdict['status'], 'none'>;
  /** With `docker` unknown: since when it says nothing that can be believed, and why. */
  readonly unknown?: { readonly since: MonoMs; readonly why: string };
}

const NO_DOCKER: HealthVerdict = { status: 'none', reason: '' };

/** Of a run that has just begun: without probes it is healthy and ready at once. */
export function newHealth(probes: ProbesSpec, at: MonoMs, docker: HealthVerdict = NO_DOCKER): RunHealth {
  const started = probes.startup === null;
  const alive = probes.liveness === null ? true : null;
  const ready = started && probes.readiness === null;
  return afterDocker({ started, alive, ready, healthySince: null }, docker, at);
}

/** What Docker says now. When that cannot be believed, what it said before is the past: it may be so no longer. */
export function afterDocker(health: RunHealth, { status, reason }: HealthVerdict, at: MonoMs): RunHealth {
  const { docker: _, unknown, ...rest } = health;
  if (status === 'none') return settled(rest, at);
  if (status !== 'unknown') return settled({ ...rest, docker: status }, at);
  return settled({ ...rest, docker: status, unknown: { since: unknown?.since ?? at, why: reason } }, at);
}

/** May it be used by others? */
export const isReady = ({ started, ready, docker }: RunHealth): boolean =>
  started && ready && (docker === undefined || docker === 'healthy');

/** After the verdict of one probe. A failed startup or liveness is dealt with by whoever restarts; here it is only noted. */
export function afterVerdict(health: RunHealth, role: Role, pass: boolean, probes: ProbesSpec, at: MonoMs): RunHealth {
  switch (role) {
    case 'startup':
      return settled({ ...health, started: pass, ready: pass && (health.ready || probes.readiness === null) }, at);
    case 'liveness':
      return settled({ ...health, alive: pass }, at);
    case 'readiness':
      return { ...health, ready: pass };
    default:
      throw new Error(`no such role: ${role satisfies never}`);
  }
}

/** After a change of the configuration: what is no longer asked no longer stands in the way. */
export function afterProbesChanged(health: RunHealth, probes: ProbesSpec, at: MonoMs): RunHealth {
  const started = health.started || probes.startup === null;
  const alive = probes.liveness === null ? true : health.alive;
  return settled({ ...health, started, alive, ready: health.ready || (started && probes.readiness === null) }, at);
}

export const sameHealth = (a: RunHealth, b: RunHealth): boolean =>
  a.started === b.started &&
  a.alive === b.alive &&
  a.ready === b.ready &&
  a.docker === b.docker &&
  a.healthySince === b.healthySince;

function settled(health: RunHealth, at: MonoMs): RunHealth {
  const { started, alive, docker } = health;
  // Nothing is known to be wrong: a good stretch is not over, and none begins.
  if (docker === 'unknown' && started && alive === true) return health;
  const isHealthy = started && alive === true && (docker === undefined || docker === 'healthy');
  return { ...health, healthySince: isHealthy ? (health.healthySince ?? at) : null };
}
