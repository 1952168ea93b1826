/** The Docker Engine, as far as it is asked. */

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
}

/** How a container was made: what does not change while it exists. */
export interface ContainerSetup {
  /** What it was given as environment, its image's included. The values stay in the Engine: nobody here needs them. */
  readonly variables: ReadonlyMap<string, 'set' | 'empty'>;
  /** Where memory is mounted in it; the Engine cannot see the files in there. */
  readonly tmpfs: readonly string[];
}

/** We could not ask: that says nothing about the container. `why` is a sentence for people. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly why: string;
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
  /** By its exact name or its full id. Rejects only when `signal` aborts. */
  inspect(container: string, signal: AbortSignal): Promise<Inspection>;
}

export type Look =
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
  /** `signal` aborted. `left`: what could not be ended, and why; null: nothing is left of it. */
  | { readonly kind: 'called-off'; readonly left: string | null }
  | Unreachable;

/** The Engine for those who look into containers, not only at them. Unless said otherwise, all reject only when `signal` aborts. */
export interface ContainerEngine extends Engine {
  inspect(container: string, signal: AbortSignal): Promise<FullInspection>;
  /** The names of all containers, also of those that do not run; empty when it cannot be asked. */
  names(signal: AbortSignal): Promise<readonly string[]>;
  /** Whether there is something at that path, links followed. What is mounted in memory is invisible to it, and absent. */
  look(id: string, path: string, signal: AbortSignal): Promise<Look>;
  /** Runs a command in a running container. Never rejects: when `signal` aborts, the command is ended and the result says so. */
  exec(id: string, command: readonly string[], signal: AbortSignal): Promise<ExecResult>;
}
