/** Experiments inside the services of a compose file, for programs that keep the list of experiments themselves. */
import { resolve } from 'node:path';
import { AppError } from '../base/pure/errors.ts';
import { after } from '../base/pure/ids.ts';
import { filled } from '../campaigns/spec.ts';
import { type ExperimentResult, type OpenedCompose, openCompose } from '../compose/open.ts';
import type { ServiceHealth } from '../compose/rules/readiness.ts';
import { DEFAULTS } from '../config/defaults.ts';
import type { ContainerHealthStatus } from './container-options.ts';

export type { ExperimentResult };

export interface ContainerManagerOptions {
  /** Default: `docker-compose.yml`, in `projectDir`. */
  readonly composeFile?: string;
  /** What paths in the compose file are relative to. Default: the working directory. */
  readonly projectDir?: string;
  /** What `executeExperiment` runs; `{config}` is the path it was given. Default: `lem experiment {config} --yes`. */
  readonly command?: readonly string[];
  /** A command in the services that prints their GPUs as JSON. Default: nvidia-smi, or Python's pynvml where there is none. */
  readonly gpuCommand?: readonly string[];
  /** Where the Docker Engine listens, as `unix:///path/docker.sock`. Default: as the docker command finds it. */
  readonly docker?: string;
}

export interface StartServicesOptions {
  /** Until they are healthy, or run where they have no health check. Default: true. */
  readonly wait?: boolean;
  readonly signal?: AbortSignal;
}

export interface ExperimentOptions {
  /** After those of `command`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: two hours. What takes longer is ended, with exit code 124. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ServiceCheckOptions {
  /** Fuller than this is unhealthy. Default: 90. */
  readonly gpuMemoryThresholdPct?: number;
}

export interface RecoverOptions extends ServiceCheckOptions {
  /** Of this service by this object, all calls together. Default: 3. */
  readonly maxRestarts?: number;
}

const NEVER = new AbortController().signal;
const BYTES_PER_GB = 2 ** 30;
const TEARDOWN_WITHIN_MS = 30_000;
/** One that is still starting is looked at again. */
const STARTING_LOOKS = 120;
const LOOK_AGAIN_MS = 1_000;

/**
 * Starts services, runs experiments in them and removes them again.
 *
 * @example
 * await using manager = new ContainerManager();
 * await manager.startServices(['pytorch']);
 * const { output, exitCode } = await manager.executeExperiment('pytorch', 'configs/a.yaml');
 */
export class ContainerManager implements AsyncDisposable {
  readonly #compose: OpenedCompose;
  readonly #command: readonly string[];
  readonly #restarts = new Map<string, number>();

  constructor(options: ContainerManagerOptions = {}) {
    const { composeFile = DEFAULTS.campaign.composeFile, docker, gpuCommand = null } = options;
    const projectDir = resolve(options.projectDir ?? process.cwd());
    const env = docker === undefined ? process.env : { ...process.env, DOCKER_HOST: docker };
    this.#compose = openCompose({ env, file: resolve(projectDir, composeFile), projectDir, gpuCommand });
    this.#command = options.command ?? DEFAULTS.campaign.command;
  }

  /**
   * Starts these and what they depend on, and nothing else. Rejects with COMPOSE_MISSING, COMPOSE_FILE_INVALID, NO_SUCH_SERVICE,
   * ENGINE_UNREACHABLE, and with SERVICE_START_FAILED, which has the last lines of the service that failed.
   */
  startServices(
    services: readonly string[],
    { wait = true, signal = NEVER }: StartServicesOptions = {},
  ): Promise<void> {
    return wait ? this.#compose.services.start(services, signal) : this.#compose.services.begin(services, signal);
  }

  /** Runs one experiment in a service that was started. A failure of Docker is a result, too: its message, and exit code 1. */
  async executeExperiment(
    service: string,
    configPath: string,
    options: ExperimentOptions = {},
  ): Promise<ExperimentResult> {
    const { args = [], env = {}, timeoutMs = DEFAULTS.campaign.timeoutMs, signal = NEVER } = options;
    const container = await this.#compose.services.containerOf(service, signal);
    if (container === null) {
      const { reason } = await this.#compose.services.health(service, { gpuMemoryThresholdPct: null }, signal);
      return { output: `The service "${service}" does not run: ${reason}`, exitCode: 1 };
    }
    const command = [...this.#command.map((word) => filled(word, { config: configPath })), ...args];
    return this.#compose.run({ service, container }, { command, env }, timeoutMs, signal);
  }

  /** How it stands now: what its health check says, and how full the fullest of its GPUs is. */
  async checkHealth(service: string, options: ServiceCheckOptions = {}): Promise<ContainerHealthStatus> {
    return await this.#statusOf(service, await this.#health(service, options));
  }

  /**
   * Restarts it, or makes it anew where a restart does not help. True: it is up again and healthy, its GPUs included. It counts towards
   * the `maxRestarts` of `checkAndRecover`.
   */
  async restartService(service: string, options: ServiceCheckOptions = {}): Promise<boolean> {
    const isUp = await this.#recover(service, 'restart');
    return isUp && (await this.#settled(service, options)).healthy;
  }

  /**
   * Restarts it as long as it is unhealthy and may be restarted. Returns how it is in the end: `healthy`, or why it is not and nothing
   * more is done from here.
   */
  async checkAndRecover(service: string, options: RecoverOptions = {}): Promise<ContainerHealthStatus> {
    const { maxRestarts = DEFAULTS.campaign.health.maxRestarts } = options;
    for (;;) {
      const health = await this.#settled(service, options);
      const restarts = this.#restarts.get(service) ?? 0;
      const isUnclear = health.status === 'unknown' && !health.isLasting;
      if (health.healthy || isUnclear || health.remedy === 'none' || restarts >= maxRestarts)
        return await this.#statusOf(service, health);
      await this.#recover(service, health.remedy);
    }
  }

  /**
   * Removes the containers and networks of the project, also those that an earlier process left behind; named volumes stay. May be
   * called again. Rejects with TEARDOWN_INCOMPLETE when something is still there in the end.
   */
  async teardown({ timeoutMs = TEARDOWN_WITHIN_MS }: { readonly timeoutMs?: number } = {}): Promise<void> {
    const left = await this.#compose.services.teardown({ timeoutMs });
    if (left.length > 0) throw new AppError('TEARDOWN_INCOMPLETE', { left: left.join('; ') });
  }

  async isServiceRunning(service: string): Promise<boolean> {
    return (await this.#compose.services.containerOf(service, NEVER)) !== null;
  }

  /** As `teardown()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.teardown();
  }

  #recover(service: string, remedy: 'restart' | 'recreate'): Promise<boolean> {
    this.#restarts.set(service, (this.#restarts.get(service) ?? 0) + 1);
    return this.#compose.services.recover(service, remedy, NEVER);
  }

  async #statusOf(service: string, health: ServiceHealth): Promise<ContainerHealthStatus> {
    const container = await this.#compose.services.containerOf(service, NEVER);
    const { status, healthy, reason, gpuMemoryUsedBytes: used, gpuMemoryTotalBytes: total } = health;
    return {
      status,
      healthy,
      reason,
      service,
      ...(container === null ? {} : { containerId: container }),
      ...(used === null ? {} : { gpuMemoryUsedGb: used / BYTES_PER_GB }),
      ...(total === null ? {} : { gpuMemoryTotalGb: total / BYTES_PER_GB }),
    };
  }

  #health(service: string, options: ServiceCheckOptions): Promise<ServiceHealth> {
    const { gpuMemoryThresholdPct = DEFAULTS.campaign.health.gpuMemoryThresholdPct } = options;
    return this.#compose.services.health(service, { gpuMemoryThresholdPct }, NEVER);
  }

  /** Waits for one whose health check has not decided yet. */
  async #settled(service: string, options: ServiceCheckOptions): Promise<ServiceHealth> {
    for (let looks = 1; ; looks++) {
      const health = await this.#health(service, options);
      if (health.status !== 'starting' || looks >= STARTING_LOOKS) return health;
      const { clock } = this.#compose;
      await clock.sleepUntil(after(clock.now(), LOOK_AGAIN_MS), NEVER);
    }
  }
}
