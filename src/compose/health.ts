/** How a service stands: what Docker says of its containers, and what the GPUs in them say. */

import type { Clock } from '../base/clock.ts';
import type { WallMs } from '../base/pure/ids.ts';
import { judgeHealth } from '../docker/rules/judge.ts';
import type { Inspected } from './containers.ts';
import type { GpuAsker } from './gpu.ts';
import { judgeGpus } from './rules/gpu.ts';
import { endOf, unhealthyBecause } from './rules/readiness.ts';
import type { ServiceHealth } from './rules/service-health.ts';

const NO_GPU = { gpuMemoryUsedBytes: null, gpuMemoryTotalBytes: null };

export const unknownHealth = (reason: string): ServiceHealth => ({
  status: 'unknown',
  healthy: false,
  reason,
  remedy: 'restart',
  ...NO_GPU,
});

const unhealthy = (reason: string, remedy: ServiceHealth['remedy']): ServiceHealth => ({
  status: 'unhealthy',
  healthy: false,
  reason,
  remedy,
  ...NO_GPU,
});

export interface HealthParts {
  readonly gpus: GpuAsker;
  /** How many GPUs each service had when they were first seen. */
  readonly firstSeen: Map<string, number>;
  readonly clock: Pick<Clock, 'wallNow'>;
}

/** The worst of its containers. */
export async function healthOf(
  { gpus, firstSeen, clock }: HealthParts,
  service: string,
  containers: readonly Inspected[],
  gpuMemoryThresholdPct: number | null,
  signal: AbortSignal,
): Promise<ServiceHealth> {
  if (containers.length === 0) return unhealthy('there is no container of it', 'recreate');
  const verdicts = containers.map((one) => byDocker(one, clock.wallNow()));
  const sick = verdicts.find(({ healthy }) => !healthy);
  if (sick) return sick;
  const [{ state }] = containers as [Inspected];
  const reading = await gpus.ask(state, signal);
  if (reading.kind === 'read' && reading.gpus.length > 0 && !firstSeen.has(service))
    firstSeen.set(service, reading.gpus.length);
  const expected = firstSeen.get(service) ?? null;
  const verdict = judgeGpus(reading, { thresholdPct: gpuMemoryThresholdPct, expected });
  const [docker] = verdicts as [ServiceHealth];
  if (verdict === null) return docker;
  const memory = { gpuMemoryUsedBytes: verdict.usedBytes, gpuMemoryTotalBytes: verdict.totalBytes };
  if (verdict.status === 'healthy') return { ...docker, ...memory, status: 'healthy', reason: verdict.reason };
  return { status: verdict.status, healthy: false, reason: verdict.reason, remedy: verdict.remedy, ...memory };
}

function byDocker({ state, setup }: Inspected, now: WallMs): ServiceHealth {
  const { running, paused, restarting, health, error, status } = state;
  if (paused) return unhealthy('it is paused', 'restart');
  if (restarting)
    return unhealthy(`the Engine restarts it again and again, it ended with code ${state.exitCode}`, 'restart');
  if (!running) {
    const ended = endOf({ ...state, restartPolicy: setup.restartPolicy.name });
    return error === '' && status === 'exited' ? unhealthy(ended, 'restart') : unhealthy(error || ended, 'recreate');
  }
  if (health === null) return { ...unhealthy('', 'none'), status: 'none', healthy: true };
  const believed = judgeHealth(state, setup.healthCheck, now);
  // A restart makes it run again.
  if (believed.status === 'unknown') return { ...unknownHealth(believed.reason), isLasting: true };
  if (health.status === 'healthy') return { ...unhealthy('', 'none'), status: 'healthy', healthy: true };
  if (health.status === 'starting')
    return { ...unhealthy('its health check has not passed yet', 'restart'), status: 'starting' };
  return unhealthy(unhealthyBecause(health), 'restart');
}
