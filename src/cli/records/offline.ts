/** The records on disk, read without a daemon. The heavy part (SQLite) is loaded only here. */
import { AppError } from '../../base/pure/errors.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import { sampleView } from '../../supervision/rules/usage/stretch.ts';
import type { WhyView } from '../../supervision/rules/views.ts';
import type { Project } from '../../base/home.ts';
import type { Offline } from '../../daemon/offline.ts';
import type { World } from '../call.ts';
import { noSuch } from '../targets.ts';
import { agentRecords } from './agents.ts';
import { incidentRecords } from './incidents.ts';
import type { Records, Which } from './records.ts';
import { sessionRecords } from './sessions.ts';
import { ticketRecords } from './tickets.ts';

/** As the daemon answers. */
const DEFAULT_SAMPLES = 100;

export interface OfflineRecords extends Records {
  close(): void;
}

export async function openOfflineRecords(project: Project, env: World['env']): Promise<OfflineRecords> {
  const { openOffline } = await import('../../daemon/offline.ts');
  const offline = await openOffline(project, env);
  const { history } = offline;
  return {
    status: async () => offline.status(),
    crashes: async ({ sinceMs, ...rest }) => {
      const { component } = rest;
      const crashes = history.crashes({ ...rest, since: sinceMs as WallMs | undefined });
      if (component !== undefined && crashes.length === 0) requireKnown(offline, component);
      return { schema_version: 1, crashes };
    },
    why: async (which) => why(offline, which),
    samples: async ({ component, sinceMs, limit = DEFAULT_SAMPLES }) => {
      const since = sinceMs === undefined ? {} : { since: sinceMs as WallMs };
      const samples = history.samples({ component, limit, ...since });
      if (samples.length === 0 && history.samples({ component, limit: 1 }).length === 0)
        requireKnown(offline, component);
      return { schema_version: 1, samples: samples.map(sampleView) };
    },
    ...sessionRecords(history),
    ...agentRecords(history),
    ...incidentRecords(history),
    ...ticketRecords(history),
    listEvents: async ({ after = 0, component, limit }) => {
      const filter = component === undefined ? {} : { component };
      const events = history.events({ afterSeq: after, limit, ...filter });
      return { schema_version: 1, last_seq: history.lastSeq(), events };
    },
    close: () => offline.close(),
  };
}

function why(offline: Offline, which: Which): WhyView {
  const { history } = offline;
  const newest = 'id' in which ? null : offline.unrecordedDeath(which.component);
  if (newest !== null) return newest;
  const found = history.why(which) ?? ('id' in which ? null : history.why({ subject: which.component }));
  if (found) return found;
  if ('id' in which) throw new AppError('NO_SUCH_CRASH', { id: which.id });
  requireKnown(offline, which.component);
  throw new AppError('NOTHING_RECORDED', { name: which.component });
}

/** A component that is gone from the configuration keeps its crashes; a name without any must at least be known. */
function requireKnown({ status, history }: Offline, component: string): void {
  const names = status().components.map(({ name }) => name);
  if (!names.includes(component) && history.why({ component }) === null) throw noSuch(component, names);
}
