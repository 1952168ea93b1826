/** The campaigns of a project, for a daemon that does not run them: read from its history, and never changed. */

import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { History } from '../history/ports.ts';
import { isRunning } from './locks.ts';
import type { CampaignArchive, CampaignBrief, CampaignRecord, CampaignResults } from './ports.ts';
import { type CampaignSummary, type CampaignView, experimentView } from './rules/views.ts';

/** Years of nights. */
const MAX_LISTED = 1_000;

export function campaignArchive(history: Pick<History, 'campaigns' | 'campaign'>, home: string): CampaignArchive {
  const isRun = ({ state, name }: CampaignBrief) => state === 'running' && isRunning(home, name);
  return {
    list: async () => {
      const briefs = history.campaigns(MAX_LISTED);
      const campaigns = await Promise.all(briefs.map(async (one) => summaryView(one, await isRun(one))));
      return { schema_version: 1, campaigns };
    },
    get: async (name) => {
      const results = history.campaign(name);
      if (results) return wholeView(results, await isRun(results));
      const names = history.campaigns(MAX_LISTED).map((one) => one.name);
      throw new AppError('NO_SUCH_CAMPAIGN', { name: `called ${name}`, meant: didYouMean(name, names) });
    },
  };
}

// Campaigns of the book as they are shown.

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
