/** Campaigns and their experiments out of their rows. Whoever runs a campaign writes them (sqlite/experiments.ts). */

import type { WallMs } from '../base/pure/ids.ts';
import type { Row } from '../base/sqlite.ts';
import type { CampaignBrief } from '../campaigns/ports.ts';
import type { Experiment, ExperimentState } from '../campaigns/rules/state.ts';
import type { CampaignRecordState } from '../campaigns/rules/views.ts';
import { num, numOrNull, str, strOrNull } from './cells.ts';
import type { History } from './ports.ts';
import { listOf, type Rows } from './table.ts';

export const CAMPAIGNS = {
  ...{ table: 'campaigns', since: 7, key: ['id'], order: ['id'] },
  reads: ['name', 'file', 'state', 'reason', 'created_at', 'ended_at'],
} as const;

export const EXPERIMENTS = {
  ...{ table: 'experiments', since: 7, key: ['campaign_id', 'position'], order: ['campaign_id', 'position'] },
  item: (row: Row): Experiment => ({
    name: str(row['name']),
    service: str(row['service']),
    state: str(row['state']) as ExperimentState,
    attempts: num(row['attempts']),
    failures: num(row['failures']),
    exitCode: numOrNull(row['exit_code']),
    durationMs: numOrNull(row['duration_ms']),
    reason: strOrNull(row['reason']),
  }),
} as const;

export const headOf = (row: Row) => ({
  name: str(row['name']),
  file: str(row['file']),
  state: str(row['state']) as CampaignRecordState,
  reason: strOrNull(row['reason']),
  createdAt: num(row['created_at']) as WallMs,
  endedAt: numOrNull(row['ended_at']) as WallMs | null,
});

function briefOf(rows: Rows, row: Row): CampaignBrief {
  const where = { campaign_id: num(row['id']) };
  const states = rows.select(EXPERIMENTS, { where, columns: ['state'] }).map(({ state }) => state);
  const count = (state: ExperimentState) => states.filter((each) => each === state).length;
  return { ...headOf(row), done: count('done'), failed: count('failed'), total: states.length };
}

export const campaignQuestions = (rows: Rows) =>
  ({
    campaigns: (limit) => rows.select(CAMPAIGNS, { newestFirst: true, limit }).map((row) => briefOf(rows, row)),
    campaign: (name) => {
      const row = rows.select(CAMPAIGNS, { where: { name } })[0];
      if (row === undefined) return null;
      const experiments = listOf(rows, EXPERIMENTS, { where: { campaign_id: num(row['id']) } });
      return { ...briefOf(rows, row), experiments };
    },
  }) satisfies Partial<History>;
