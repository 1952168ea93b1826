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
  /** Of the last end; 0 while it has not ended. */
  readonly exitCode: number;
  /** The kernel killed something in it for want of memory. Nothing else is evidence of that, exit code 137 least of all. */
  readonly oomKilled: boolean;
  /** Why the Engine could not start it; empty: it could. */
  readonly error: string;
}

export type Inspection =
  | { readonly kind: 'found'; readonly state: ContainerState }
  | { readonly kind: 'missing' }
  /** We could not ask: that says nothing about the container. `why` is a sentence for people. */
  | { readonly kind: 'unreachable'; readonly why: string };

export interface Engine {
  /** By its exact name or its full id. Rejects only when `signal` aborts. */
  inspect(container: string, signal: AbortSignal): Promise<Inspection>;
}
