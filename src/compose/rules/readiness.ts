/** Whether the containers of a service have come up, from what the Engine says of them. */
import { type DockerHealth, failedCheck } from '../../supervision/rules/container-health.ts';

/** What of a container's state decides. */
export interface ServiceContainer {
  readonly status: string;
  readonly running: boolean;
  readonly paused: boolean;
  readonly restarting: boolean;
  readonly exitCode: number;
  readonly oomKilled: boolean;
  readonly error: string;
  readonly health: DockerHealth | null;
  /** "no": nobody but us starts it again. */
  readonly restartPolicy: string;
}

export type Readiness =
  | { readonly kind: 'ready' }
  /** It has no health check, so running is all that is known, and it may end the next moment. */
  | { readonly kind: 'running' }
  /** It ended well: a service that does its work once. */
  | { readonly kind: 'completed' }
  | { readonly kind: 'starting'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

export function readinessOf(container: ServiceContainer): Readiness {
  const { status, running, paused, restarting, exitCode, error, health } = container;
  if (error !== '') return { kind: 'failed', why: error };
  if (paused) return { kind: 'failed', why: 'it is paused: unpause it with "docker unpause"' };
  if (restarting) return { kind: 'starting', why: `the Engine restarts it, it ended with code ${exitCode}` };
  if (running) return health === null ? { kind: 'running' } : byHealth(health);
  if (status === 'created') return { kind: 'starting', why: 'it was made and not started yet' };
  if (status === 'exited' && exitCode === 0) return { kind: 'completed' };
  if (status === 'exited' && container.restartPolicy !== 'no')
    return { kind: 'starting', why: `it ended with code ${exitCode}` };
  return { kind: 'failed', why: endOf(container) };
}

export function endOf({ status, exitCode, oomKilled }: ServiceContainer): string {
  if (status !== 'exited') return `its container is ${status}`;
  return `it ended with code ${exitCode}${oomKilled ? ', out of memory' : ''}`;
}

function byHealth(health: DockerHealth): Readiness {
  if (health.status === 'healthy') return { kind: 'ready' };
  if (health.status === 'starting') return { kind: 'starting', why: 'its health check has not passed yet' };
  return { kind: 'failed', why: unhealthyBecause(health) };
}

export const unhealthyBecause = (health: DockerHealth): string => `its ${failedCheck(health)}`;

/** How a service stands between two experiments. */
export interface ServiceHealth {
  /** `unknown`: it could not be asked; that is no verdict. */
  readonly status: 'healthy' | 'unhealthy' | 'starting' | 'none' | 'unknown';
  /** Whether the next experiment may be begun in it. */
  readonly healthy: boolean;
  /** Of one that is unknown or starting: asking again later does not help. */
  readonly isLasting?: true;
  /** A sentence for people; empty: nothing to say. */
  readonly reason: string;
  /** What could help when it is not healthy. `none`: nothing that can be done from here does (a host fault): the service is quarantined. */
  readonly remedy: 'restart' | 'recreate' | 'none';
  /** Of the fullest GPU; null: no GPU was found, or it does not say. */
  readonly gpuMemoryUsedBytes: number | null;
  readonly gpuMemoryTotalBytes: number | null;
}
