/** What the configuration says about a component, complete and checked: nothing downstream defaults or validates again. */

import type { SignalName } from '../base/pure/exit.ts';
import type { ComponentName } from '../base/pure/ids.ts';
import type { HealthCheckTimes } from './rules/container-health.ts';
import type { HeartbeatSpec } from './rules/freeze/heartbeat.ts';
import type { ProbesSpec } from './rules/health/probe.ts';

export type DependencyCondition = 'started' | 'ready' | 'completed';

/** Where commands of a component run and what they see: its own, its exec probes, its recovery. */
export interface Surroundings {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths, read again at each start; later files win, `env` wins over files. */
  readonly envFiles: readonly string[];
}

export interface ProcessSpec extends Surroundings {
  readonly kind: 'process';
  /** argv; with `shell: true` this is already ['/bin/sh', '-c', text]. */
  readonly command: readonly string[];
  readonly shell: boolean;
  /** Name or number; absent: as the daemon. Its group and supplementary groups come with it. */
  readonly user?: string;
  readonly group?: string;
  readonly umask?: number;
  /** From -20 (first) to 19 (last). */
  readonly nice?: number;
}

/** Something that others started. It is watched; with a recovery command it can be brought back. */
export interface ExternalSpec extends Surroundings {
  readonly kind: 'external';
  readonly target: ExternalTarget;
  /** `restart.command`; null: observed only. */
  readonly recover: readonly string[] | null;
}

export type ExternalTarget =
  | { readonly kind: 'pid-file'; readonly path: string }
  | { readonly kind: 'address'; readonly host: string; readonly port: number }
  | { readonly kind: 'container'; readonly name: string };

/** A container of the Docker Engine that is made and kept here. `cwd`: where paths of the host begin. */
export interface ContainerSpec extends Surroundings {
  readonly kind: 'container';
  readonly image: string;
  /** Whether the image is fetched: never, when it is not there, or whenever a start is asked for and before each new container. */
  readonly pull: 'never' | 'missing' | 'always';
  /** Null: made from the project and the component. */
  readonly containerName: string | null;
  /** Null: as the image says. */
  readonly command: readonly string[] | null;
  readonly entrypoint: readonly string[] | null;
  readonly user: string | null;
  readonly workdir: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string | null;
  readonly ports: readonly PortSpec[];
  /** "/host/path:/in/container:ro", paths of the host absolute; or "name:/in/container". */
  readonly volumes: readonly string[];
  /** 'none': that of the image is switched off; null: as the image says. */
  readonly healthcheck: { readonly command: readonly string[]; readonly times: HealthCheckTimes } | 'none' | null;
  /** When it gave up. */
  readonly cleanup: 'keep' | 'remove';
}

export interface PortSpec {
  readonly hostIp: string;
  /** Null: the Engine chooses a free one. */
  readonly hostPort: number | null;
  /** In the container. */
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

/** A service of a compose file: its container is made by Docker Compose and kept here. */
export interface ComposeSpec extends Surroundings {
  readonly kind: 'compose';
  /** Absolute. */
  readonly file: string;
  /** What paths in the file are relative to. Absolute. */
  readonly projectDir: string;
  readonly service: string;
}

/** A process or a container that runs on Kubernetes instead of this machine: placed, restarted and probed there. */
export interface ClusterSpec extends Surroundings {
  readonly kind: 'kubernetes';
  /** A Job ends, a Deployment never does. */
  readonly workload: 'Deployment' | 'Job';
  /** What its workload and its container are called there. */
  readonly object: string;
  /** All that is applied for it, with the values of Secrets, in order; the workload comes last. Never shown. */
  readonly objects: readonly ClusterObject[];
}

export interface ClusterObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

export type DriverSpec = ProcessSpec | ContainerSpec | ComposeSpec | ExternalSpec | ClusterSpec;

/** Its runs are containers, whoever makes them. */
export const runsInContainer = (driver: DriverSpec): driver is ContainerSpec | ComposeSpec =>
  driver.kind === 'container' || driver.kind === 'compose';

export interface BackoffSpec {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Jitter only shortens, by up to this ratio (0 to 1), so the maximum is a maximum. */
  readonly jitterRatio: number;
  readonly resetAfterMs: number;
}

export interface LimitSpec {
  /** Restarts, so at most max + 1 runs begin in the window. */
  readonly max: number;
  readonly withinMs: number;
  /** The quiet retry after giving up; null: never. */
  readonly retryMs: number | null;
}

export interface RestartSpec {
  readonly policy: 'always' | 'on-failure' | 'never';
  readonly backoff: BackoffSpec;
  readonly limit: LimitSpec;
  /** Exit codes that are a success, beside 0; absent: none. */
  readonly successCodes?: readonly number[];
  /** Exit codes and signals that end it for good. */
  readonly neverOn: readonly (number | SignalName)[];
  /** Restart the components that depend on this one after it recovers. */
  readonly dependents: boolean;
}

export interface StopSpec {
  readonly signal: SignalName;
  readonly graceMs: number;
}

/** What a run may use; null: as much as there is. */
export interface LimitsSpec {
  readonly memoryBytes: number | null;
  readonly pids: number | null;
  readonly nofile: number | null;
  /** Above this in several samples in a row it is restarted, asked first. */
  readonly softMemoryBytes: number | null;
  /** How many processors' time, only for containers; absent: as much as there is. */
  readonly cpus?: number;
}

export const NO_LIMITS: LimitsSpec = { memoryBytes: null, pids: null, nofile: null, softMemoryBytes: null };

/** How much of what a component writes is kept. */
export interface LogKeeping {
  /** When the log is longer, its older part is put aside. */
  readonly maxBytes: number;
  /** Parts that were put aside and are kept. */
  readonly keep: number;
  readonly compress: boolean;
}

/** Bounds of all logs of a project together. */
export interface LogBounds {
  readonly maxTotalBytes: number;
  /** Logs are cut before less than this is free; null: a part of the disk. 0: never. */
  readonly minFreeBytes: number | null;
}

export interface ComponentSpec {
  readonly name: ComponentName;
  readonly driver: DriverSpec;
  readonly dependsOn: Readonly<Record<ComponentName, DependencyCondition>>;
  readonly stop: StopSpec;
  readonly restart: RestartSpec;
  /** A run that ends sooner is a failure whatever its code. It never delays `ready`. */
  readonly minUptimeMs: number;
  readonly probes: ProbesSpec;
  /** Text, or /regular expression/flags; a line of output that fits one is one failed liveness answer, so there is a liveness probe. */
  readonly crashPatterns: readonly string[];
  /** Absent: nobody expects a sign of progress. */
  readonly heartbeat?: HeartbeatSpec;
  readonly limits: LimitsSpec;
  readonly logs: LogKeeping;
}
