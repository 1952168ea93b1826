import type { Clock } from '../base/clock.ts';
import type { WallMs } from '../base/pure/ids.ts';
import type { Execs, Services } from '../compose/ports.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { NewCrash } from '../supervision/ports/crash.ts';
import type { Archives } from './artifacts.ts';
import type { CampaignState, Experiment, OpenAttempt, Request, Write } from './rules/state.ts';
import type { CampaignRecordState, CampaignsView, CampaignView } from './rules/views.ts';
import type { CampaignSpec } from './spec.ts';

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

/** What campaigns came to, and how the one that runs goes. They are run elsewhere, never by the daemon. */
export interface CampaignArchive {
  /** Newest first. */
  list(): Promise<CampaignsView>;
  /** Rejects with NO_SUCH_CAMPAIGN. */
  get(name: string): Promise<CampaignView>;
}

// What the runner of a campaign works with, and whom it tells.

export interface CampaignObserver {
  /** After each decision: where the campaign is, and what is done next. */
  step(state: CampaignState, request: Request): void;
  /** A piece of what the current experiment writes. */
  output(experiment: string, piece: Buffer): void;
  note(text: string): void;
}

export interface CampaignParts {
  readonly services: Services;
  readonly execs: Execs;
  readonly archives: Archives;
  readonly engine: Pick<EngineClient, 'ping' | 'events'>;
  readonly book: CampaignBook;
  readonly clock: Clock;
  readonly observer: CampaignObserver;
  /** Where the output of experiments is kept. */
  readonly logDir: string;
  /** Values that may be in what containers write and nobody should see. */
  readonly secrets: readonly string[];
}

export interface Campaign {
  readonly record: CampaignRecord;
  readonly spec: CampaignSpec;
}

export interface Interrupts {
  /** Somebody wants it to end: the current experiment is ended, and everything is put away. */
  readonly stop: AbortSignal;
  /** And does not want to wait for that. */
  readonly rush: AbortSignal;
}
