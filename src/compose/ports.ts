import type { MonoMs } from '../base/pure/ids.ts';
import type { ServiceHealth } from './rules/readiness.ts';

/** How a driver has Docker Compose make the container of a service. */

export interface ComposePlace {
  /** Both absolute. */
  readonly file: string;
  readonly projectDir: string;
}

/** The project of one compose file. What fails is thrown as an AppError; an aborted signal, as its reason. */
export interface ComposeProjectUp {
  /** What it is called in the labels of its containers. */
  name(signal: AbortSignal): Promise<string>;
  /** Makes and starts the service, and unless `alone` what it depends on. One at a time for each project. */
  up(service: string, options: { readonly anew: boolean; readonly alone: boolean }, signal: AbortSignal): Promise<void>;
}

export interface Composer {
  /** `fresh`: the file is read again; otherwise what is known of it is enough. */
  project(place: ComposePlace, fresh: boolean): ComposeProjectUp;
}

/** The services of one compose file. A new one is made for each run of a campaign; it remembers nothing that a kill -9 would lose. */
export interface Services {
  /**
   * Starts these and what they depend on, and nothing else; resolves when all are ready. What runs already and is ready is left as it
   * is, so that a command that goes on in there is found again. Throws an AppError that says which service, why, and its last words.
   */
  start(services: readonly string[], signal: AbortSignal): Promise<void>;
  /** Looks once, within a deadline of its own. `gpuMemoryThresholdPct` null: how full a GPU is does not matter now. Never throws unless aborted. */
  health(
    service: string,
    options: { readonly gpuMemoryThresholdPct: number | null },
    signal: AbortSignal,
  ): Promise<ServiceHealth>;
  /** Restarts it, or makes it anew where only that helps, and waits until it is ready. False: it did not come back; `why` of the next health tells. */
  recover(service: string, remedy: 'restart' | 'recreate', signal: AbortSignal): Promise<boolean>;
  /** The full id of the container that runs this service now; null: none does, or the Engine cannot be asked. */
  containerOf(service: string, signal: AbortSignal): Promise<string | null>;
  /**
   * Removes the containers and networks of the project, and their anonymous volumes; named volumes stay. Also what an earlier process
   * left behind. May be called again and at any time. Resolves within the time with what is still there, empty: nothing.
   */
  teardown(options: { readonly timeoutMs: number }): Promise<readonly string[]>;
}

/** A command that runs in a container without us: its output and its exit code go to files in there. */
export interface AttemptPlace {
  readonly service: string;
  /** The container it was begun in. In another one it is lost. */
  readonly container: string;
  /** Lower-case letters, digits and dashes. The same id is never begun twice in the same container. */
  readonly attempt: string;
}

export interface AttemptCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type AttemptBegun =
  | { readonly kind: 'begun' }
  /** It was begun before, by us or by an earlier process: it runs, or has ended. */
  | { readonly kind: 'found' }
  /** It never will: no shell in the image, no such program. `why` is a sentence. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The container is gone, or takes no command now. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The Engine cannot be asked: it may have begun or not. */
  | { readonly kind: 'unreachable'; readonly why: string };

export type AttemptObservation =
  | { readonly kind: 'running' }
  /** `durationMs`: from its begin to its end as measured in there; null: unknown. */
  | { readonly kind: 'ended'; readonly exitCode: number; readonly durationMs: number | null }
  /** There is no trace of it in this container: it was not begun. */
  | { readonly kind: 'absent' }
  /** The container is gone or was started again, or it died without leaving an exit code. */
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly why: string };

/** Nothing here throws unless `signal` aborts. */
export interface Execs {
  begin(place: AttemptPlace, command: AttemptCommand, signal: AbortSignal): Promise<AttemptBegun>;
  look(place: AttemptPlace, signal: AbortSignal): Promise<AttemptObservation>;
  /** Resolves at that time, or before it when the end of the attempt is heard of. Not every end is: look all the same. */
  pause(place: AttemptPlace, until: MonoMs, signal: AbortSignal): Promise<void>;
  /** The output from this position on, a piece of it (at most 1 MiB); empty: there is no more now, or it cannot be had. */
  output(place: AttemptPlace, position: number, signal: AbortSignal): Promise<Buffer>;
  /** Kills it with everything it started. False: something may be left; the service must be restarted. */
  end(place: AttemptPlace, signal: AbortSignal): Promise<boolean>;
  /** Its files in the container are not wanted any more: they go with the next begin there, at the latest with the container. */
  forget(place: AttemptPlace, signal: AbortSignal): Promise<void>;
  /** The same at once, where that can be done, of one that was ended. */
  clear(place: AttemptPlace, signal: AbortSignal): Promise<void>;
}
