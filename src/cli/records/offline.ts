/** The records on disk, read without a daemon. The heavy part (SQLite) is loaded only here. */

import { agentView } from '../../agents/rules/views.ts';
import { isOver, NO_AGENTS } from '../../agents/spec.ts';
import type { Project } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import type { Offline } from '../../daemon/offline.ts';
import type { History } from '../../history/ports.ts';
import { incidentsView } from '../../incidents/rules/view.ts';
import { bugNumber, ticketNumber } from '../../incidents/tickets/rules/number.ts';
import { oneTicketView, ticketsView } from '../../incidents/tickets/rules/view.ts';
import { findSession, MAX_ENDED, oneSessionView, sessionsView } from '../../sessions/rules/view.ts';
import type { SessionRecord } from '../../sessions/spec.ts';
import { sampleView } from '../../supervision/rules/usage/stretch.ts';
import type { WhyView } from '../../supervision/rules/views.ts';
import type { World } from '../call.ts';
import { noSuch } from '../targets.ts';
import type { Records, Which } from './records.ts';

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

// Agents as the records on disk have them. Nobody looks at their processes.

const UNSEEN = 'not checked: the daemon was not asked';

export const agentRecords = (history: History): Pick<Records, 'agents'> => ({
  agents: async ({ all = false }) => {
    const wall = Date.now() as WallMs;
    const now = performance.now() as MonoMs; // times of another clock are not shown below
    const shown = history.agents().filter(({ state }) => all || !isOver(state));
    const agents = shown.map((record) => {
      const view = agentView(record, { ...NO_AGENTS, maxRespawns: record.respawns.length }, { now, wall });
      const unseen = isOver(record.state) ? {} : { note: UNSEEN, uptime_ms: null, next_attempt_at: null };
      return { ...view, ...unseen };
    });
    return { schema_version: 1, agents };
  },
});

// Incidents as the records on disk have them.

/** As the daemon answers. */
const DEFAULT_LIMIT = 100;

export const incidentRecords = (history: History): Pick<Records, 'incidents'> => ({
  incidents: async ({ state = 'open', limit = DEFAULT_LIMIT }) =>
    incidentsView(history.incidents({ state: state === 'all' ? undefined : state, limit })),
});

// Sessions as the records on disk have them. Nobody looks at their containers, so their health is not known.

const unseen = (record: SessionRecord): SessionRecord =>
  record.state === 'ended'
    ? record
    : { ...record, health: { status: 'unknown', reason: 'not checked: the daemon was not asked' } };

export const sessionRecords = (history: History): Pick<Records, 'sessions' | 'session'> => ({
  sessions: async ({ user, all = false }) => {
    const whose = user === undefined ? {} : { user };
    const ended = all ? history.sessions({ which: 'ended', limit: MAX_ENDED, ...whose }) : [];
    const open = history.sessions({ which: 'open', limit: 0, ...whose });
    return sessionsView([...open.map(unseen), ...ended].sort((a, b) => a.lease.createdAt - b.lease.createdAt));
  },
  session: async (id) => {
    const record = findSession(id, history.sessions({ which: 'open', limit: 0 }), {
      find: (exactly) => history.session(exactly),
      ended: ({ limit }) => history.sessions({ which: 'ended', limit }),
    });
    return oneSessionView(unseen(record));
  },
});

// Tickets as the records on disk have them.

const MAX_CLOSED = 100;

export const ticketRecords = (history: History): Pick<Records, 'tickets' | 'ticket'> => ({
  tickets: async ({ state = 'open', limit = MAX_CLOSED }) =>
    ticketsView(history.tickets({ state: state === 'all' ? undefined : state, limit })),
  ticket: async (text) => {
    const number = ticketNumber(text);
    const ticket = history.ticket(number);
    if (ticket === null) throw new AppError('NO_SUCH_TICKET', { ticket: bugNumber(number) });
    return oneTicketView(ticket);
  },
});
