/** Campaigns as `-o json` shows them. */
import type { Experiment, Outcome } from './state.ts';

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
