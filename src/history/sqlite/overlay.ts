/** The history with the commits laid over it that are not on disk yet, so that nobody reads a past without its newest part. */

import { bugNumber } from '../../incidents/tickets/rules/number.ts';
import { samplesLaidOver } from '../../supervision/rules/usage/stretch.ts';
import type { CrashView } from '../../supervision/rules/views.ts';
import type { Entry } from '../entry.ts';
import type { History } from '../ports.ts';
import {
  agentsLaidOver,
  INCIDENTS,
  newerOf,
  numberedLaidOver,
  passesLaidOver,
  sessionsLaidOver,
  TICKETS,
} from '../records.ts';
import { checkKey, keyOf, newestFirst, newestResultFirst } from '../stretches.ts';
import { Tables } from '../tables.ts';
import { atMost, DEFAULT_CRASHES } from '../views.ts';
import type { SqliteHistory } from './reader.ts';

/** What is read from the disk. Components, meta and the last number are known in memory and asked there. */
export type Readable = Omit<History, 'components' | 'meta' | 'lastSeq' | 'lastNumber'>;

/** `history` is null when there is no database to read; then the kept commits are all there is. */
export function readable(history: SqliteHistory | null, kept: readonly Entry[]): Readable {
  if (history === null) return tablesOf(kept, new Tables());
  if (kept.length === 0) return history;
  const base = {
    lastCrashId: history.lastCrashId(),
    run: (run: Parameters<Readable['run']>[0]) => history.knownRun(run),
    ticketOf: (incident: number) => history.incident(incident)?.ticket ?? null,
  };
  return merged(history, tablesOf(kept, new Tables({ base })));
}

function tablesOf(kept: readonly Entry[], tables: Tables): Tables {
  for (const entry of kept) tables.apply(entry);
  return tables;
}

/** Everything kept is newer than everything written: the queue is emptied in order. */
function merged(below: SqliteHistory, above: Tables): Readable {
  const { incidents, tickets } = above.cases;
  // The ticket of an incident may be newer than what is written of it.
  const ticketed = <Crash extends CrashView>(crash: Crash): Crash => {
    const ticket = crash.incident === null ? null : (above.incident(crash.incident)?.ticket ?? null);
    return ticket === null ? crash : { ...crash, ticket: bugNumber(ticket) };
  };
  return {
    crashes: (query) => {
      const limit = atMost(query.limit ?? DEFAULT_CRASHES);
      return [...above.crashes(query), ...below.crashes(query).map(ticketed)].slice(0, limit);
    },
    why: (which) => {
      const newer = above.why(which);
      if (newer !== null) return newer;
      const older = below.why(which);
      return older && ticketed(older);
    },
    events: (query) => [...below.events(query), ...above.events(query)].slice(0, atMost(query.limit)),
    run: (run) => above.run(run) ?? below.run(run),
    runs: (query) => {
      const newer = above.runs(query);
      const seen = new Set(newer.map(({ run }) => run));
      const older = below.runs(query).filter(({ run }) => !seen.has(run));
      return [...newer, ...older].sort((a, b) => b.begunAt - a.begunAt).slice(0, atMost(query.limit));
    },
    probes: (query) => {
      const newer = above.probes(query);
      const seen = new Set(newer.map(keyOf));
      const older = below.probes(query).filter((stretch) => !seen.has(keyOf(stretch)));
      return [...newer, ...older].sort(newestFirst).slice(0, atMost(query.limit));
    },
    samples: (query) => samplesLaidOver(above.samples(query), below.samples(query), atMost(query.limit)),
    checkResults: (query) => {
      const newer = above.checkResults(query);
      const seen = new Set(newer.map(checkKey));
      const older = below.checkResults(query).filter((stretch) => !seen.has(checkKey(stretch)));
      return [...newer, ...older].sort(newestResultFirst).slice(0, atMost(query.limit));
    },
    sessions: (query) => sessionsLaidOver(above, below, query),
    session: (id) => above.session(id) ?? below.session(id),
    agents: () => agentsLaidOver(above.agents(), below.agents()),
    healthChecks: (query) => passesLaidOver(above.healthChecks(query), below.healthChecks(query), query.limit),
    incidents: (query) =>
      numberedLaidOver(incidents, (each) => below.incidents(each as typeof query), query, INCIDENTS.numberOf),
    incident: (id) => above.incident(id) ?? below.incident(id),
    incidentOf: (key) => newerOf(above.incidentOf(key), below.incidentOf(key), INCIDENTS.numberOf),
    tickets: (query) =>
      numberedLaidOver(tickets, (each) => below.tickets(each as typeof query), query, TICKETS.numberOf),
    ticket: (number) => above.ticket(number) ?? below.ticket(number),
    ticketByFingerprint: (key) =>
      newerOf(above.ticketByFingerprint(key), below.ticketByFingerprint(key), TICKETS.numberOf),
    campaigns: (limit) => below.campaigns(limit),
    campaign: (name) => below.campaign(name),
    lastGoodIngredients: (component) => above.lastGoodIngredients(component) ?? below.lastGoodIngredients(component),
  };
}
