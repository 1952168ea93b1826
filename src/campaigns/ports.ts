import type { WallMs } from '../base/pure/ids.ts';
import type { NewCrash } from '../supervision/ports/crash.ts';
import type { Experiment, OpenAttempt, Write } from './rules/state.ts';
import type { CampaignRecordState, CampaignsView, CampaignView } from './rules/views.ts';

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
