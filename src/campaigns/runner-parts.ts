/** What the runner of a campaign works with, and whom it tells. */

import type { Clock } from '../base/clock.ts';
import type { Execs, Services } from '../compose/ports.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { Archives } from './artifact-ledger.ts';
import type { CampaignBook, CampaignRecord } from './ports.ts';
import type { CampaignState, Request } from './rules/state.ts';
import type { CampaignSpec } from './spec.ts';

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
