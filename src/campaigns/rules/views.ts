/** Campaigns as `-o json` shows them. */
import { type Experiment, isFinal, type Outcome } from './state.ts';

export type CampaignRecordState = 'running' | Outcome;

export interface ExperimentView {
  readonly name: string;
  readonly service: string;
  readonly state: Experiment['state'];
  readonly attempts: number;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  readonly reason: string | null;
}

export interface CampaignSummary {
  readonly campaign: string;
  readonly state: CampaignRecordState;
  readonly reason: string | null;
  readonly file: string;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

export interface CampaignView extends CampaignSummary {
  readonly schema_version: 1;
  readonly experiments: readonly ExperimentView[];
}

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
