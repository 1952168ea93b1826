/** What a campaign needs from the outside: the compose services its experiments run in, the experiments' commands, a book. */
import type { ServiceHealth } from '../compose/rules/service-health.ts';
import type { Experiment, OpenAttempt, Write } from './rules/state.ts';
import type { CampaignRecordState } from './rules/views.ts';
import type { MonoMs, WallMs } from '../base/pure/ids.ts';
import type { NewCrash } from '../supervision/ports/crash.ts';

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

export type AttemptSight =
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
  look(place: AttemptPlace, signal: AbortSignal): Promise<AttemptSight>;
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

export interface CampaignRecord {
  readonly id: number;
  /** Random: with it, names of attempts are unique for ever, also when this book is lost. */
  readonly uid: string;
  readonly name: string;
  /** The campaign file, absolute, and what it said when the campaign was made. */
  readonly file: string;
  readonly source: string;
  /** Absolute: enough to remove its services when the file is gone. */
  readonly composeFile: string;
  readonly projectDir: string;
  /** `running`: somebody runs it, or was killed while running it; only the lock tells. */
  readonly state: CampaignRecordState;
  readonly reason: string | null;
  readonly createdAt: WallMs;
  readonly endedAt: WallMs | null;
  /** Services of it may be up. */
  readonly mayBeUp: boolean;
  readonly experiments: readonly Experiment[];
  readonly open: OpenAttempt | null;
  /** When that attempt was begun. */
  readonly openSince: WallMs | null;
}

/** A campaign in one line, and nothing of its experiments but how many came to what. */
export interface CampaignBrief
  extends Pick<CampaignRecord, 'name' | 'state' | 'reason' | 'file' | 'createdAt' | 'endedAt'> {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

export interface CampaignResults extends CampaignBrief {
  readonly experiments: readonly Experiment[];
}

export type NewCampaign = Pick<CampaignRecord, 'uid' | 'name' | 'file' | 'source' | 'composeFile' | 'projectDir'>;

/** What campaigns came to. Everything is on disk when a call returns; all throw an AppError when that cannot be. */
export interface CampaignBook {
  /** Throws CAMPAIGN_EXISTS when the name is taken. */
  create(
    campaign: NewCampaign & {
      readonly experiments: readonly { readonly name: string; readonly service: string }[];
    },
    at: WallMs,
  ): CampaignRecord;
  find(name: string): CampaignRecord | null;
  /** Newest first. */
  list(): readonly CampaignRecord[];
  /** All of it or nothing of it. A final result is never overwritten, and the crash of an attempt is written once. */
  write(id: number, writes: readonly Write[], at: WallMs, crash?: NewCrash | null): void;
  /** Forgets a campaign of which nothing was ever begun. */
  discard(id: number): void;
  /** It is run again, or its services were started or removed. */
  mark(id: number, what: { readonly state?: 'running'; readonly mayBeUp?: boolean }): void;
  close(): void;
}
