/** The campaigns of a project, for a daemon that does not run them: read from its history, and never changed. */
import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { CampaignBrief } from './ports.ts';
import type { Control } from '../api/control.ts';
import type { History } from '../supervision/ports/store.ts';
import { isRunning } from './locks.ts';
import { summaryView, wholeView } from './view.ts';

/** Years of nights. */
const MAX_LISTED = 1_000;

export function campaignArchive(history: Pick<History, 'campaigns' | 'campaign'>, home: string): Control['campaigns'] {
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
