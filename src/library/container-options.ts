/** What the classes that look after containers take in common. */

import { type Log, silentLog } from '../base/log.ts';
import { DEFAULTS } from '../config/defaults.ts';
import type { HealPolicy } from '../docker/healing/rules/state.ts';
import type { HealthVerdict } from '../supervision/rules/container-health.ts';
import type { BackoffSpec, LimitSpec } from '../supervision/spec.ts';

export interface DockerOptions {
  /**
   * Where the Docker Engine listens: "unix:///path/docker.sock", "tcp://host:2376" or a path. Default: as the docker command finds
   * it (DOCKER_HOST, contexts, the usual sockets).
   */
  readonly docker?: string;
  /** How often everything is compared with the Engine's own list, beside its events. Default: 30 000. */
  readonly checkIntervalMs?: number;
  /** Where to write what happens. Default: nowhere. */
  readonly log?: Log;
}

/** What is done with a container that is unhealthy or has ended. What is left out is as for components. */
export interface RestartOptions {
  /** Default: `on-failure`. `never`: nothing is restarted, only told. */
  readonly policy?: 'always' | 'on-failure' | 'never';
  /** Default: 1 s, twice as long each time, at most 60 s; from the beginning again after 10 min of good health. */
  readonly backoff?: Partial<BackoffSpec>;
  /** Default: 10 in 10 min, then it is given up, with one quiet try every 15 min. */
  readonly limit?: Partial<LimitSpec>;
  /** Between its stop signal and SIGKILL. Default: 10 000. */
  readonly graceMs?: number;
}

export const CHECK_INTERVAL_MS = 30_000;

/** Shorter would be a busy loop over the whole list. */
const MIN_CHECK_INTERVAL_MS = 1_000;

export function careOptions({ docker, checkIntervalMs = CHECK_INTERVAL_MS, log = silentLog }: DockerOptions): {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly reconcileMs: number;
} {
  if (!(checkIntervalMs >= MIN_CHECK_INTERVAL_MS))
    throw new RangeError(`checkIntervalMs must be at least ${MIN_CHECK_INTERVAL_MS}, not ${checkIntervalMs}`);
  const host = docker?.startsWith('/') ? `unix://${docker}` : docker;
  return {
    env: host === undefined ? process.env : { ...process.env, DOCKER_HOST: host },
    log,
    reconcileMs: checkIntervalMs,
  };
}

export function healPolicy(
  { policy = 'on-failure', backoff, limit, graceMs }: RestartOptions,
  cleanup: NonNullable<HealPolicy['cleanup']>,
): HealPolicy {
  return {
    restart: {
      policy,
      backoff: { ...DEFAULTS.restart.backoff, ...backoff },
      limit: { ...DEFAULTS.restart.limit, ...limit },
      neverOn: [],
    },
    minUptimeMs: DEFAULTS.minUptimeMs[policy],
    graceMs: graceMs ?? DEFAULTS.stop.graceMs,
    cleanup,
  };
}

// How a container is, in Docker's words, with a sentence for people.

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
