/** Campaigns in and out of their rows. */
import type { Experiment, ExperimentState, OpenAttempt, Write } from '../../campaigns/rules/state.ts';
import type { CampaignRecordState } from '../../campaigns/rules/views.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { CampaignBrief, CampaignRecord, NewCampaign } from '../../campaigns/ports.ts';
import { num, numOrNull, str, strOrNull, text, textOrNull } from './cells.ts';
import type { Row } from '../../base/sqlite.ts';

const wallOrNull = (value: number | null): WallMs | null => value as WallMs | null;

export const experimentOf = (row: Row): Experiment => ({
  name: str(row['name']),
  service: str(row['service']),
  state: str(row['state']) as ExperimentState,
  attempts: num(row['attempts']),
  failures: num(row['failures']),
  exitCode: numOrNull(row['exit_code']),
  durationMs: numOrNull(row['duration_ms']),
  reason: strOrNull(row['reason']),
});

export const openAttemptOf = (row: Row): OpenAttempt => ({
  position: num(row['position']),
  attempt: str(row['attempt']),
  number: num(row['number']),
  container: str(row['container']),
});

const headOf = (row: Row) => ({
  name: str(row['name']),
  file: str(row['file']),
  state: str(row['state']) as CampaignRecordState,
  reason: strOrNull(row['reason']),
  createdAt: num(row['created_at']) as WallMs,
  endedAt: wallOrNull(numOrNull(row['ended_at'])),
});

export const briefOf = (row: Row): CampaignBrief => ({
  ...headOf(row),
  done: num(row['done']),
  failed: num(row['failed']),
  total: num(row['total']),
});

export const recordOf = (row: Row, experiments: readonly Row[], open: Row | undefined): CampaignRecord => ({
  id: num(row['id']),
  uid: str(row['uid']),
  ...headOf(row),
  source: str(row['source']),
  composeFile: str(row['compose_file']),
  projectDir: str(row['project_dir']),
  mayBeUp: num(row['may_be_up']) === 1,
  experiments: experiments.map(experimentOf),
  open: open ? openAttemptOf(open) : null,
  openSince: open ? (num(open['begun_at']) as WallMs) : null,
});

export const experimentRow = (id: number, position: number, one: Experiment): Row => ({
  ...{ id, position, state: one.state, attempts: one.attempts, failures: one.failures },
  ...{ exit_code: one.exitCode, duration_ms: rounded(one.durationMs), reason: textOrNull(one.reason) },
});

export const overRow = (over: Extract<Write, { kind: 'attempt-over' }>, at: WallMs): Row => ({
  ...{ at, attempt: over.open.attempt, outcome: over.outcome, exit_code: over.exitCode },
  ...{ duration_ms: rounded(over.durationMs), reason: textOrNull(over.reason) },
});

export const createdRow = (campaign: NewCampaign, at: WallMs): Row => ({
  ...{ uid: campaign.uid, name: text(campaign.name), file: text(campaign.file), source: text(campaign.source) },
  ...{ compose_file: text(campaign.composeFile), project_dir: text(campaign.projectDir), at },
});

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));
