/** Campaigns of the book as they are shown. */
import { type CampaignSummary, type CampaignView, experimentView } from './rules/views.ts';
import type { CampaignBrief, CampaignRecord, CampaignResults } from './ports.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** `isRunning`: somebody has it. */
export function summaryView(brief: CampaignBrief, isRunning: boolean): CampaignSummary {
  // Only a process that was killed leaves "running" behind.
  const wasKilled = brief.state === 'running' && !isRunning;
  return {
    campaign: brief.name,
    state: wasKilled ? 'interrupted' : brief.state,
    reason: wasKilled ? 'its process was killed' : brief.reason,
    file: brief.file,
    created_at: iso(brief.createdAt),
    ended_at: brief.endedAt === null ? null : iso(brief.endedAt),
    done: brief.done,
    failed: brief.failed,
    total: brief.total,
  };
}

export const wholeView = (results: CampaignResults, isRunning: boolean): CampaignView => ({
  schema_version: 1,
  ...summaryView(results, isRunning),
  experiments: results.experiments.map(experimentView),
});

export function resultsOf(record: CampaignRecord): CampaignResults {
  const count = (state: string) => record.experiments.filter((one) => one.state === state).length;
  return { ...record, done: count('done'), failed: count('failed'), total: record.experiments.length };
}
