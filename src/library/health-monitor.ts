/** Watches containers that somebody else made, and restarts those that are unhealthy or have died. */
import type { ContainerCare } from '../docker/healing/healer.ts';
import type { Healing, HealStatus } from '../docker/healing/ports.ts';
import {
  type ContainerHealthStatus,
  careOptions,
  type DockerOptions,
  healPolicy,
  healthStatus,
  type RestartOptions,
} from './container-options.ts';

export interface HealthMonitorOptions extends DockerOptions {
  readonly restart?: RestartOptions;
  /**
   * What becomes of a container that is given up. `remove`: it goes, with its anonymous volumes, after `onGaveUp` was called, and there
   * is no quiet try any more. Default: `keep`.
   */
  readonly cleanup?: 'keep' | 'remove';
  /** Something about a container changed: its health, or what is done about it. `containerId` as it was given. */
  readonly onStatusChange?: (containerId: string, status: MonitoredStatus) => void;
  /** It was restarted as often as it may be, and is still not well. */
  readonly onGaveUp?: (containerId: string, status: MonitoredStatus) => void;
}

export interface MonitoredStatus extends ContainerHealthStatus {
  /**
   * watching: nothing is to be done. backing-off: it will be restarted. restarting: now. ended: it ended well and is left so.
   * gave-up: it could not be saved. gone: there is no such container (any more), also because it was removed as hopeless.
   */
  readonly state: HealStatus['state'] | 'not-monitored';
  /** By this monitor. */
  readonly restarts: number;
  readonly nextAttemptAt: Date | null;
}

/**
 * Looks after containers in the background: by the Engine's events, and by a look at all of them every 30 s. Nothing here blocks:
 * every method returns at once, and no Engine or container that hangs holds up the others.
 *
 * @example
 * const monitor = new HealthMonitor({ onGaveUp: (id, { reason }) => console.error(id, reason) });
 * monitor.startMonitoring('web');
 * monitor.getHealthStatus('web'); // { status: 'healthy', healthy: true, … }
 */
export class HealthMonitor implements AsyncDisposable {
  readonly #options: HealthMonitorOptions;
  readonly #care: ReturnType<typeof careOptions>;
  readonly #policy: ReturnType<typeof healPolicy>;
  /** Null: it is wanted, and not begun yet. */
  readonly #monitored = new Map<string, Healing | null>();
  #opened: Promise<ContainerCare> | null = null;
  #problem: string | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: HealthMonitorOptions = {}) {
    this.#options = options;
    this.#care = careOptions(options);
    this.#policy = healPolicy(options.restart ?? {}, options.cleanup ?? 'keep');
  }

  /** By exact name, or by id as `docker ps` prints it. Again for the same one does nothing. One that does not exist is waited for. */
  startMonitoring(containerId: string): void {
    if (this.#closed !== null) throw new Error('this HealthMonitor is closed: make a new one');
    if (this.#monitored.has(containerId)) return;
    this.#monitored.set(containerId, null);
    this.#open().then(
      (care) => this.#begin(care, containerId),
      (error: Error) => {
        this.#problem = error.message;
      },
    );
  }

  /** The container is left as it is; a restart that has begun is brought to its end. */
  stopMonitoring(containerId: string): void {
    this.#monitored.get(containerId)?.[Symbol.dispose]();
    this.#monitored.delete(containerId);
  }

  /** As it is known now, without asking anybody. */
  getHealthStatus(containerId: string): MonitoredStatus {
    const healing = this.#monitored.get(containerId);
    if (healing) return monitoredStatus(healing.status);
    const reason =
      healing === null ? (this.#problem ?? 'not checked yet') : 'it is not monitored: call startMonitoring first';
    const state = healing === null ? 'watching' : 'not-monitored';
    return { ...healthStatus({ status: 'unknown', reason }, null), state, restarts: 0, nextAttemptAt: null };
  }

  /** Those that are monitored now. */
  get monitored(): readonly string[] {
    return [...this.#monitored.keys()];
  }

  /** Ends all monitoring; no timer and no connection is left. Containers are left as they are. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    for (const id of this.monitored) this.stopMonitoring(id);
    const care = await this.#opened?.catch(() => null);
    await care?.close();
  }

  /** Only those who monitor something load what speaks to Docker. */
  #open(): Promise<ContainerCare> {
    this.#opened ??= import('../docker/healing/healer.ts').then(({ openContainerCare }) =>
      openContainerCare(this.#care),
    );
    return this.#opened;
  }

  #begin(care: ContainerCare, containerId: string): void {
    // Stopped, closed, or begun by a second call meanwhile.
    if (this.#monitored.get(containerId) !== null) return;
    const { onStatusChange, onGaveUp } = this.#options;
    const healing = care.healer.begin(containerId, this.#policy, {
      changed: (status) => onStatusChange?.(containerId, monitoredStatus(status)),
      gaveUp: (status) => onGaveUp?.(containerId, monitoredStatus(status)),
    });
    this.#monitored.set(containerId, healing);
  }
}

function monitoredStatus(status: HealStatus): MonitoredStatus {
  const { health, id, state, restarts, nextAttemptAt, reason } = status;
  const why = state === 'gave-up' || state === 'backing-off' ? reason : health.reason;
  return {
    ...healthStatus({ ...health, reason: why }, id),
    state,
    restarts,
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt),
  };
}
