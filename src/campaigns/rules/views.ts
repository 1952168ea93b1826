/** Campaigns as `-o json` shows them. */
import type { Count, IsoTime, WholeNumber } from '../../base/pure/json.ts';
import { type Experiment, type FinalState, isFinal } from './state.ts';

export type CampaignRecordState = 'running' | FinalState;

/** What an experiment came to. */
export interface ExperimentView {
  readonly name: string;
  /** The compose service it runs in. */
  readonly service: string;
  readonly state: Experiment['state'];
  readonly attempts: Count;
  /** Of the last attempt that ended by itself. */
  readonly exit_code: WholeNumber | null;
  /** Of the last attempt that ended. */
  readonly duration_ms: Count | null;
  /** Why it is as it is. */
  readonly reason: string | null;
}

/** A campaign in one line. */
export interface CampaignSummary {
  /** Its name. */
  readonly campaign: string;
  /** failed: all have a result, some failed; stopped: some are left, for `reason`. */
  readonly state: CampaignRecordState;
  /** Why it is as it is. */
  readonly reason: string | null;
  /** The campaign file, absolute. */
  readonly file: string;
  readonly created_at: IsoTime;
  /** Null: it runs, or was killed. */
  readonly ended_at: IsoTime | null;
  readonly done: Count;
  readonly failed: Count;
  /** All experiments. */
  readonly total: Count;
}

/** A campaign with its experiments, in the order in which they are run. */
export interface CampaignView extends CampaignSummary {
  readonly schema_version: 1;
  readonly experiments: readonly ExperimentView[];
}

/** Campaigns, newest first. */
export interface CampaignsView {
  readonly schema_version: 1;
  readonly campaigns: readonly CampaignSummary[];
}

export const experimentView = (one: Experiment): ExperimentView => ({
  name: one.name,
  service: one.service,
  state: one.state,
  attempts: one.attempts,
  exit_code: one.exitCode,
  duration_ms: one.durationMs,
  reason: one.reason,
});

// How much longer a campaign takes, by what its experiments took so far.

export interface Progress {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
  /** Null: nothing has ended yet that could tell. */
  readonly leftMs: number | null;
}

/** `runningForMs`: how long the current one runs already. One without an example of its service takes as long as all others did. */
export function progressOf(experiments: readonly Experiment[], runningForMs: number): Progress {
  const timed = experiments.filter((one) => one.state === 'done' && one.durationMs !== null);
  const open = experiments.filter((one) => !isFinal(one));
  const guess = (service: string): number => {
    const alike = timed.filter((one) => one.service === service);
    return mean((alike.length > 0 ? alike : timed).map((one) => one.durationMs!));
  };
  const left = open.reduce((sum, one) => sum + guess(one.service), 0);
  const current = open.find((one) => one.state === 'running');
  const spent = current ? Math.min(runningForMs, guess(current.service)) : 0;
  return {
    done: experiments.filter((one) => one.state === 'done').length,
    failed: experiments.filter((one) => one.state === 'failed').length,
    total: experiments.length,
    leftMs: open.length === 0 ? 0 : timed.length === 0 ? null : left - spent,
  };
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
