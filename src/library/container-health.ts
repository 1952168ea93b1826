/** How a container is, in Docker's words, with a sentence for people. */
import type { HealthVerdict } from '../supervision/rules/container-health.ts';

export interface ContainerHealthStatus {
  /**
   * What its health check says. `none`: it runs, and has none. `unhealthy` also when it does not run. `unknown`: the Engine cannot be
   * asked, the container is paused, or there is none.
   */
  readonly status: 'healthy' | 'unhealthy' | 'starting' | 'none' | 'unknown';
  /** May be used: `healthy`, or `none`. */
  readonly healthy: boolean;
  /** A sentence for people; empty when there is nothing to say. */
  readonly reason: string;
  /** Of the Compose service, where it is one. */
  readonly service?: string;
  /** The full id, once it is known. */
  readonly containerId?: string;
  /** Of the fullest GPU, in units of 2^30 bytes, where somebody measured it. */
  readonly gpuMemoryUsedGb?: number;
  readonly gpuMemoryTotalGb?: number;
}

export function healthStatus({ status, reason }: HealthVerdict, containerId: string | null): ContainerHealthStatus {
  return {
    status,
    healthy: status === 'healthy' || status === 'none',
    reason,
    ...(containerId === null ? {} : { containerId }),
  };
}
