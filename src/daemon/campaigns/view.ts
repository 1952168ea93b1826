/** Campaigns of the book as they are shown. */
import { type CampaignSummary, type CampaignView, experimentView } from '../../core/campaigns/views.ts';
import type { CampaignRecord } from '../../ports/campaigns.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

export function summaryView(record: CampaignRecord, isRunning: boolean): CampaignSummary {
  const count = (state: string) => record.experiments.filter((one) => one.state === state).length;
  // Only a process that was killed leaves "running" behind.
  const wasKilled = record.state === 'running' && !isRunning;
  return {
    campaign: record.name,
    state: isRunning ? 'running' : wasKilled ? 'interrupted' : record.state,
    reason: wasKilled ? 'its process was killed' : record.reason,
    file: record.file,
    created_at: iso(record.createdAt),
    ended_at: record.endedAt === null ? null : iso(record.endedAt),
    done: count('done'),
    failed: count('failed'),
    total: record.experiments.length,
  };
}

export const wholeView = (record: CampaignRecord, isRunning: boolean): CampaignView => ({
  schema_version: 1,
  ...summaryView(record, isRunning),
  experiments: record.experiments.map(experimentView),
});
