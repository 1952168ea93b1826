/** The Docker Engine, as far as it is asked and told. */

import type { SignalName } from '../base/pure/exit.ts';
import type { DockerHealth, HealthCheckTimes } from '../supervision/rules/container-health.ts';

/** How one container stands, in the Engine's own words. */
export interface ContainerState {
  /** The full id. */
  readonly id: string;
  /** created, running, paused, restarting, removing, exited or dead. */
  readonly status: string;
  /** Also true while it is paused, and while the Engine waits to restart it. */
  readonly running: boolean;
  readonly paused: boolean;
  readonly restarting: boolean;
  /** Of its main process on the Engine's machine; null: it has none now. */
  readonly pid: number | null;
  /** The Engine's own text: it is only ever compared. */
  readonly startedAt: string;
  /** The Engine's own text; null: it has not ended yet, or the Engine does not say. */
  readonly finishedAt: string | null;
  /** Of the last end; 0 while it has not ended. */
  readonly exitCode: number;
  /** The kernel killed something in it for want of memory. Nothing else is evidence of that, exit code 137 least of all. */
  readonly oomKilled: boolean;
  /** Why the Engine could not start it; empty: it could. */
  readonly error: string;
  /** What its health check says; null: it has none. */
  readonly health: DockerHealth | null;
}

/** The Engine's own: whether it restarts a container by itself. */
export interface RestartPolicy {
  /** "no" (also when the Engine says nothing), "always", "unless-stopped", "on-failure". */
  readonly name: string;
  /** With "on-failure": how often; 0: without limit. */
  readonly maxRetries: number;
}

/** How a container was made: what does not change while it exists. */
export interface ContainerSetup {
  /** What it was given as environment, its image's included. The values stay in the Engine: nobody here needs them. */
  readonly variables: ReadonlyMap<string, 'set' | 'empty'>;
  /** Where memory is mounted in it; the Engine cannot see the files in there. */
  readonly tmpfs: readonly string[];
  /** Without the slash that the Engine writes before it. */
  readonly name: string;
  /** As it was asked for: a name, or an id. */
  readonly image: string;
  /** The id of the image that it was made from; the name may stand for another one by now. */
  readonly imageId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly restartPolicy: RestartPolicy;
  readonly autoRemove: boolean;
  readonly tty: boolean;
  readonly logRotation: LogRotation | null;
  /** The times of its health check; null: it has none. */
  readonly healthCheck: HealthCheckTimes | null;
  /** Ports of it that are published now, and where. */
  readonly ports: readonly PublishedPort[];
  /** The names of the networks it is in. */
  readonly networks: readonly string[];
}

/**
 * How much the Engine keeps of what a container writes: files of that size, of which the oldest goes when a new one is begun. Null in a
 * setup: nothing is thrown away, or it is not known.
 */
export interface LogRotation {
  readonly fileBytes: number;
  readonly files: number;
}

export interface PublishedPort {
  /** In the container. */
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  readonly hostIp: string;
  readonly hostPort: number;
}

/** We could not ask: that says nothing about the container. `why` is a sentence for people. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly why: string;
  /** Nobody can be asked at that address, however long one waits: it is written wrongly, or of a kind that is not spoken here. */
  readonly isHopeless?: true;
}

export type Inspection =
  | { readonly kind: 'found'; readonly state: ContainerState }
  | { readonly kind: 'missing' }
  | Unreachable;

export type FullInspection =
  | { readonly kind: 'found'; readonly state: ContainerState; readonly setup: ContainerSetup }
  | { readonly kind: 'missing' }
  | Unreachable;

export interface Engine {
  /** By its exact name, its full id, or the first 12 digits of it or more. Rejects only when `signal` aborts. */
  inspect(container: string, signal: AbortSignal): Promise<Inspection>;
}

export type PathLookup =
  | { readonly kind: 'there' }
  | { readonly kind: 'absent' }
  /** The Engine looked and could not tell. */
  | { readonly kind: 'unknown'; readonly why: string }
  | Unreachable;

export type ExecResult =
  /** `output`: the beginning of stdout and stderr together. */
  | { readonly kind: 'exited'; readonly code: number; readonly output: string }
  /** There is no such program in the container, or it takes none now. */
  | { readonly kind: 'not-started'; readonly why: string }
  /** `signal` aborted while it ran. `left`: what could not be ended, and why; null: nothing is left of it. */
  | { readonly kind: 'called-off'; readonly left: string | null }
  | Unreachable;

/** The same with its output as it is: bytes, and as many of the first as were asked for. */
export type ExecBytes =
  | { readonly kind: 'exited'; readonly code: number; readonly bytes: Buffer }
  | Exclude<ExecResult, { kind: 'exited' }>;

export type Launched =
  /**
   * `exec`: the Engine's id for it, which is forgotten with the container and some minutes after its end. `said`: what it printed
   * after its greeting, when it prints no more or when nobody listens any more. It does not tell which: a stream that is cut ends as
   * well. Never rejects.
   */
  | { readonly kind: 'launched'; readonly exec: string; readonly said: Promise<Buffer> }
  | { readonly kind: 'not-started'; readonly why: string }
  | Unreachable;

export type ExecState = { readonly kind: 'running' } | { readonly kind: 'ended'; readonly code: number } | Unreachable;

/** The Engine for those who look into containers, not only at them. Unless said otherwise, all reject only when `signal` aborts. */
export interface ContainerEngine extends Engine {
  inspect(container: string, signal: AbortSignal): Promise<FullInspection>;
  /** The names of all containers, also of those that do not run; empty when it cannot be asked. */
  names(signal: AbortSignal): Promise<readonly string[]>;
  /** Whether there is something at that path, links followed. What is mounted in memory is invisible to it, and absent. */
  lookUp(id: string, path: string, signal: AbortSignal): Promise<PathLookup>;
  /** Runs a command in a running container. Never rejects: when `signal` aborts, the command is ended and the result says so. */
  exec(id: string, command: readonly string[], signal: AbortSignal): Promise<ExecResult>;
}

/** One row of a list: cheap for hundreds of them, and without what only an inspection tells. */
export interface ContainerSummary {
  readonly id: string;
  readonly names: readonly string[];
  /** As it was asked for; its id, once that name stands for another one. */
  readonly image: string;
  /** The id of the image that it was made from. */
  readonly imageId: string;
  readonly labels: Readonly<Record<string, string>>;
  /** created, running, paused, restarting, removing, exited or dead. */
  readonly status: string;
  /** "Up 3 minutes (healthy)": changes when something changed, and with time. */
  readonly text: string;
  /** From that text, where the Engine says no more: starting, healthy, unhealthy; none. */
  readonly health: DockerHealth['status'] | 'none';
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export type Listing<T> = { readonly kind: 'listed'; readonly items: readonly T[] } | Unreachable;

/**
 * The Engine did it, or it was so already. `missing`: there is no such thing (any more), or somebody is removing it. `unreachable`:
 * it may have been done all the same, so look before you ask again.
 */
export type ActionResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'missing' }
  /** It is about what was asked for: trying again does not help. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It is about the Engine: a bridge that is gone, a driver, a full disk. It says nothing about the container. */
  | { readonly kind: 'engine-fault'; readonly why: string }
  | Unreachable;

export type Creation =
  | { readonly kind: 'created'; readonly id: string; readonly warnings: readonly string[] }
  | { readonly kind: 'name-taken'; readonly why: string }
  | { readonly kind: 'no-image'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'engine-fault'; readonly why: string }
  | Unreachable;

export interface EngineEvent {
  /** What it is about; of images only that a name stands for another one from now on, or may do so. */
  readonly of: 'container' | 'image';
  /** create, start, restart, die, kill, stop, oom, pause, unpause, destroy, health_status, rename, update; Podman's words are turned into these. Of images: tag, pull, load, import. */
  readonly action: string;
  readonly id: string;
  /** Of a container: its labels and `exitCode`, `signal`, `name`, `image`. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Of health_status: what it is now. */
  readonly health: DockerHealth['status'] | null;
  /** The Engine's time, seconds. */
  readonly time: number;
  /** Tells one event from another: time in nanoseconds as the Engine wrote it, id and action. */
  readonly key: string;
}

export interface ContainerStats {
  /** Since it was started, all cores together. */
  readonly cpuMs: number;
  /** Without the page cache, as `docker stats` counts. */
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number | null;
  readonly processes: number;
}

export interface NetworkSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number | null; // epoch milliseconds; null: not told
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The whole client. Everything has a deadline (the one of the call for those that take long by nature), rejects only when
 * `signal` aborts, and takes its turn: only so many calls, and fewer starts, are under way at once.
 */
export interface EngineClient extends ContainerEngine {
  /** Answers when it does; for a half-open connection that an event stream would not notice. */
  ping(signal: AbortSignal): Promise<{ readonly kind: 'done' } | Unreachable>;
  /** Also those that do not run. `labels`: "name" or "name=value", all of which must fit. */
  list(labels: readonly string[], signal: AbortSignal): Promise<Listing<ContainerSummary>>;
  /** `name` null: the Engine makes one up. */
  create(name: string | null, plan: ContainerPlan, signal: AbortSignal): Promise<Creation>;
  start(id: string, signal: AbortSignal): Promise<ActionResult>;
  /** Asks with the container's own stop signal, and kills after `graceMs` (whole seconds, rounded up). Resolves when it has ended. */
  stop(id: string, graceMs: number, signal: AbortSignal): Promise<ActionResult>;
  restart(id: string, graceMs: number, signal: AbortSignal): Promise<ActionResult>;
  /** `done` also when it does not run. */
  kill(id: string, unixSignal: SignalName, signal: AbortSignal): Promise<ActionResult>;
  unpause(id: string, signal: AbortSignal): Promise<ActionResult>;
  /** With its anonymous volumes, by force. `done` also when somebody else is removing it. */
  remove(id: string, signal: AbortSignal): Promise<ActionResult>;
  /** Refused while it runs. Its volumes stay. */
  removeStopped(id: string, signal: AbortSignal): Promise<ActionResult>;
  setRestartPolicy(id: string, policy: RestartPolicy, signal: AbortSignal): Promise<ActionResult>;
  /** Like `exec`, for output that is data. */
  execBytes(id: string, command: readonly string[], maxBytes: number, signal: AbortSignal): Promise<ExecBytes>;
  /**
   * Begins a command in a running container that goes on without us. Resolves when it has begun. `signal` aborted after that: nobody
   * listens any more, and the command goes on.
   */
  launch(
    id: string,
    command: readonly string[],
    options: {
      readonly env: Readonly<Record<string, string>>;
      /** What the command prints first of all: from that it is known to have begun. */
      readonly greeting: string;
      /** So much of what it prints is kept. */
      readonly maxBytes: number;
    },
    signal: AbortSignal,
  ): Promise<Launched>;
  /** How what was launched stands; also `unreachable` when the Engine has forgotten it. */
  execState(exec: string, signal: AbortSignal): Promise<ExecState>;
  stats(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'read'; readonly stats: ContainerStats } | ActionResult>;
  /**
   * Tells events of containers and images as they come, from `since` (seconds of the Engine's time) on or from now. Resolves when the stream
   * ends, with why. `opened` is called when the Engine has accepted. `onEvent` must return at once: a slow reader slows the Engine.
   */
  events(
    options: {
      readonly since: number | null;
      readonly opened: () => void;
      readonly onEvent: (event: EngineEvent) => void;
    },
    signal: AbortSignal,
  ): Promise<Unreachable>;
  /**
   * What it writes, stdout and stderr in order, without anything added. `at`: when the Engine took that piece, in its own text
   * ("2026-01-02T03:04:05.678901234Z"): never smaller than before, so that the last one as `after` goes on behind it. `after`: only
   * what is later than that; null: from its beginning. `follow`: until it ends. `onPiece` may return a promise: nothing more is
   * read until then. Resolves with `done` when all was told. A piece is a line, or a part of a long one.
   */
  logs(
    id: string,
    options: {
      readonly after: string | null;
      readonly follow: boolean;
      /** Only so many lines from the end; absent: all. */
      readonly last?: number;
      /**
       * Called before the first piece, with the time of the first line of the answer, also if it is not later than `after`: an Engine that
       * still has the line of that time begins with it or, if it is Podman, with the next one.
       */
      readonly onFirst?: (at: string, rotation: LogRotation | null) => void;
      readonly onPiece: (piece: Buffer, at: string) => void | Promise<void>;
    },
    signal: AbortSignal,
  ): Promise<ActionResult>;
  /**
   * What is at that path in the container, also in one that does not run: the file, or the folder with all that is in it. `absent`:
   * nothing is. `broken`: the sink threw, or what the Engine sent makes no sense or would lead out of the folder; `why` says which.
   */
  archive(
    id: string,
    path: string,
    sink: ArchiveSink,
    signal: AbortSignal,
  ): Promise<ActionResult | { readonly kind: 'absent' } | { readonly kind: 'broken'; readonly why: string }>;
  /** The id of the image that this name stands for now: nothing is fetched. */
  imageOf(
    image: string,
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'found'; readonly id: string } | { readonly kind: 'missing' } | Unreachable>;
  /** Fetches it; may take minutes. */
  pull(image: string, signal: AbortSignal): Promise<ActionResult>;
  createNetwork(
    network: {
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly internal: boolean;
      /** Of its driver, which is `bridge`. */
      readonly options?: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<Creation>;
  removeNetwork(id: string, signal: AbortSignal): Promise<ActionResult>;
  networks(labels: readonly string[], signal: AbortSignal): Promise<Listing<NetworkSummary>>;
}

/** Files and folders as they come out of a container. */
export interface ArchiveEntry {
  /** Relative, without `.` and `..`; begins with the last step of the path that was asked for. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  readonly mode: number;
  /** When it was last written, in whole seconds of its own machine's clock. */
  readonly mtimeSeconds: number;
}

/** Nothing more is read while a promise of it is open. */
export interface ArchiveSink {
  /** A file's content follows in `data`, then `end`. */
  begin(entry: ArchiveEntry): void | Promise<void>;
  data(piece: Buffer): void | Promise<void>;
  end(): void | Promise<void>;
}

/** Everything a container is made with. Times in ms; what is absent or null is as the image or the Engine has it. */
export interface ContainerPlan {
  readonly image: string;
  readonly command: readonly string[] | null;
  readonly entrypoint: readonly string[] | null;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly workdir: string | null;
  /** A process that reaps and passes on signals is put before the command. */
  readonly init: boolean;
  readonly stopSignal: SignalName | null;
  readonly healthCheck: { readonly command: readonly string[]; readonly times: HealthCheckTimes } | 'none' | null;
  /** A network's name, "none", "host" or "bridge"; null: the Engine's default. */
  readonly network: string | null;
  /** `hostPort` null: the Engine chooses one. */
  readonly ports: readonly {
    readonly port: number;
    readonly protocol: 'tcp' | 'udp';
    readonly hostIp: string;
    readonly hostPort: number | null;
  }[];
  /** As Docker writes them: "/host/path:/in/container:ro", "name:/in/container". */
  readonly binds: readonly string[];
  /** Path → options: "rw,size=16m". */
  readonly tmpfs: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly dropCapabilities: readonly string[];
  readonly addCapabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  readonly memoryBytes: number | null;
  readonly cpus: number | null;
  readonly pids: number | null;
  readonly nofile: number | null;
}
