import type { ExitCause, SignalName, SpawnProblem } from '../../base/pure/exit.ts';
import type { ComponentName, MonoMs, RunId } from '../../base/pure/ids.ts';
import type { ContainerFacts, HealthVerdict } from '../rules/container-health.ts';
import type { Findings } from '../rules/freeze/freeze.ts';
import type { Attempt } from '../rules/lifecycle/state.ts';
import type { Condition, LimitView, ShimView } from '../rules/views.ts';
import type {
  ClusterSpec,
  ComposeSpec,
  ContainerSpec,
  DriverSpec,
  ExternalSpec,
  ExternalTarget,
  LimitsSpec,
} from '../spec.ts';

export type Launch = ProcessLaunch | ContainerLaunch | ComposeLaunch | ExternalLaunch | ClusterLaunch;

/** Something that others start: watched, and brought back by its recovery command if it has one. */
export interface ExternalLaunch {
  readonly kind: 'external';
  readonly run: RunId;
  readonly component: ComponentName;
  readonly target: ExternalTarget;
  /** Run when it is not there, and whenever the attempt is a restart; null: only waited for. */
  readonly recover: readonly string[] | null;
  readonly attempt: Attempt;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The output of the recovery command is appended here. */
  readonly logPath: string;
}

/** A container that is made, or started again, for this run. */
export interface ContainerLaunch {
  readonly kind: 'container';
  readonly run: RunId;
  readonly component: ComponentName;
  readonly spec: ContainerSpec;
  readonly limits: LimitsSpec;
  readonly stopSignal: SignalName;
  readonly attempt: Attempt;
  /** Complete: files are read. Nothing of the daemon's own environment is in it. */
  readonly env: Readonly<Record<string, string>>;
  readonly logPath: string;
  /** As of a process: whether the configuration changed since the run began. */
  readonly specHash: string;
  /** Of everything the container is made with, the values of its variables included: one with another hash is made anew. */
  readonly containerHash: string;
  /** Unplanned ends in a row since it was last well; absent: none. When starting it again does not help, it is made anew. */
  readonly failures?: number;
  /** Somebody asked for it: it is made anew in any case. */
  readonly anew?: boolean;
}

/** The container of a service, which Docker Compose makes. */
export interface ComposeLaunch
  extends Pick<ContainerLaunch, 'run' | 'component' | 'attempt' | 'logPath' | 'specHash' | 'failures' | 'anew'> {
  readonly kind: 'compose';
  readonly spec: ComposeSpec;
}

/** One life of a container on Kubernetes: the next one there, or one that is asked for. */
export interface ClusterLaunch extends Pick<ContainerLaunch, 'run' | 'component' | 'attempt' | 'logPath' | 'specHash'> {
  readonly kind: 'kubernetes';
  readonly spec: ClusterSpec;
}

/** As whom a command runs and what it may use. What is absent is as with the daemon. */
export interface Confinement {
  /** Name or number. */
  readonly user?: string;
  readonly group?: string;
  readonly umask?: number;
  readonly nice?: number;
  readonly limits?: Pick<LimitsSpec, 'memoryBytes' | 'pids' | 'nofile'>;
}

/** Everything needed to begin one run. The environment is complete: nothing of the daemon's own leaks in by accident. */
export interface ProcessLaunch extends Confinement {
  readonly kind: 'process';
  readonly run: RunId;
  readonly component: ComponentName;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** stdout and stderr, together, appended. */
  readonly logPath: string;
  /** Identifies the configuration the run was begun with, so that a later daemon can tell whether it changed. */
  readonly specHash: string;
}

export interface ProcessInfo {
  readonly pid: number;
  readonly name: string;
  /** R, S, D, T, … from /proc. */
  readonly state: string;
}

/** Facts about one run, told in order. Exactly one `exited` or `spawn-failed` ends the main process's story. */
export type RunReport =
  /** `health`: what Docker's own health check says already; absent: it has none. */
  | { readonly kind: 'started'; readonly pid: number | null; readonly at: MonoMs; readonly health?: HealthVerdict }
  | { readonly kind: 'spawn-failed'; readonly problem: SpawnProblem }
  /**
   * `leftovers`: pids of the tree that outlived the main process; when not empty, `tree-gone` follows once they are gone.
   * `at`: when the main process ended, as well as can be known (an end seen later is dated by its exit record's mtime).
   * `notes`: what is known of the end beside its output, for people.
   */
  | {
      readonly kind: 'exited';
      readonly at: MonoMs;
      readonly cause: ExitCause;
      readonly leftovers: readonly number[];
      readonly notes?: readonly string[];
    }
  | { readonly kind: 'tree-gone' }
  /** The shim died before its child: the run goes on, its exit code will be unknown. */
  | { readonly kind: 'shim-lost' }
  /** What Docker's own health check says of it now; told when that changes. Without any, all is as if there were no health check. */
  | { readonly kind: 'docker-health'; readonly verdict: HealthVerdict }
  /**
   * Nothing can or may be asked of it for now, and why: the Engine does not answer, somebody paused it; null: that is over.
   * Told at each change.
   */
  | { readonly kind: 'held'; readonly why: string | null };

export type Reporter = (report: RunReport) => void;

/** How a run is cannot be found out right now: it is asked again, and nothing is concluded from it. */
export interface Doubt {
  readonly since: MonoMs;
  /** What the kernel said. */
  readonly why: string;
}

/** A run directory found on disk at start. */
export interface FoundRun {
  readonly run: RunId;
  readonly component: ComponentName;
  readonly specHash: string;
  /** False: from an earlier boot, so nothing of it can be alive. */
  readonly sameBoot: boolean;
}

/** Starts, watches and ends the processes of runs. It decides nothing about restarts. */
export interface Driver {
  /** 'cgroup-v2' or 'process-group + cookie': how the whole tree of a run is found and ended. */
  readonly treeMechanism: string;
  /** What stands between the daemon and the next run of a process. */
  readonly shim: ShimView;
  /** Queues the start; all that follows comes through `report`. Never throws, never reports before returning. */
  start(launch: Launch, report: Reporter): void;
  /** The runs that earlier daemons left behind, newest first. */
  found(): readonly FoundRun[];
  /**
   * Takes over a run of an earlier daemon. Reports `started` when it lives, `exited` or `spawn-failed` when it does not.
   * A run whose directory is gone reports `exited` with an unknown cause. Nothing is reported before this has returned: a restart
   * without a wait is begun with the report, and whoever takes over has yet to read what is wanted.
   */
  adopt(run: RunId, spec: DriverSpec, report: Reporter): void;
  /** Sends `signal` to the run's process group, or to what is left of its tree. Before the pid is known it is kept and sent then. */
  signal(run: RunId, signal: SignalName): void;
  /** SIGKILL to the whole tree; also cancels a start that has not happened yet (reported as spawn-failed, code cancelled). */
  killTree(run: RunId): void;
  /** What is odd about a run right now, beside its reports: an engine that does not answer. Null: nothing. */
  condition(run: RunId): Condition | null;
  /** Null: how it is is known. Of what is no process of ours, `held` tells. */
  doubt(run: RunId): Doubt | null;
  /** The limits of a run and what holds it to them. */
  limits(run: RunId): readonly LimitView[];
  /** The container of a run as it was last seen, from memory; null: it has none, or none was seen yet. */
  container(run: RunId): ContainerFacts | null;
  /**
   * Whether the container of a run was made from another image than its name stands for now. With `pull: always` that is fetched first.
   * False also when it cannot be told. Never rejects.
   */
  isOutdated(run: RunId, spec: DriverSpec): Promise<boolean>;
  /** Who is still there. */
  survivors(run: RunId): Promise<readonly ProcessInfo[]>;
  /**
   * Looks for a few seconds at what its processes do. `dump` is sent to the main process first. Never rejects, and says what could
   * not be seen.
   */
  examine(run: RunId, dump: SignalName | null): Promise<Findings>;
  /** The run is recorded: its directory goes to the trash. Also forgets it. Safe to call twice. */
  release(run: RunId): void;
  /** The name of a container of the component that runs although none of its runs did; null: there is none. */
  startedByOthers(component: ComponentName): string | null;
  /** It gave up: what was made for the component goes. `done` is called when it is gone; not before the Engine can be asked. */
  cleanUp(component: ComponentName, done: (container: string) => void): void;
  /** It is stopped, and meant to be: what others made for it is put back as it was, now or when the Engine can be asked again. */
  letGo(component: ComponentName): void;
  /**
   * What was made for components that are not known any more goes, and what others made for them is put back as it was: now or when the
   * Engine can be asked again. `isCompose`: others make its container, and it is kept here.
   */
  tidy(isKnown: (component: ComponentName) => boolean, isCompose: (component: ComponentName) => boolean): void;
  /** Stops watching everything, touches no process. */
  close(): Promise<void>;
}

/** The driver of processes alone; see `drivers/router.ts` for who gets which run. */
export interface ProcessDriver
  extends Omit<
    Driver,
    'start' | 'adopt' | 'condition' | 'container' | 'isOutdated' | 'startedByOthers' | 'cleanUp' | 'letGo' | 'tidy'
  > {
  start(launch: ProcessLaunch, report: Reporter): void;
  adopt(run: RunId, report: Reporter): void;
}

/** The driver of what others started. It leaves nothing on disk. */
export interface ExternalDriver
  extends Omit<
    Driver,
    | 'start'
    | 'adopt'
    | 'found'
    | 'limits'
    | 'treeMechanism'
    | 'shim'
    | 'container'
    | 'isOutdated'
    | 'startedByOthers'
    | 'cleanUp'
    | 'letGo'
    | 'tidy'
    | 'doubt'
  > {
  start(launch: ExternalLaunch, report: Reporter): void;
  adopt(run: RunId, spec: ExternalSpec, report: Reporter): void;
}

/** The driver of containers that are kept here. */
export interface ContainerDriver extends Omit<Driver, 'start' | 'adopt' | 'treeMechanism' | 'shim' | 'doubt'> {
  start(launch: ContainerLaunch | ComposeLaunch, report: Reporter): void;
  adopt(run: RunId, report: Reporter): void;
}
