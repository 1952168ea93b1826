/** Incidents over a store in memory, without trackers, in which time passes only when a test says so. */

import { silentLog } from '../../src/base/log.ts';
import { openMemoryStore } from '../../src/history/memory.ts';
import type { Store } from '../../src/history/ports.ts';
import { createFiling } from '../../src/incidents/filing.ts';
import { ALONE } from '../../src/incidents/ports.ts';
import type { Incident } from '../../src/incidents/rules/incident.ts';
import { createIncidentService, type IncidentServiceParts } from '../../src/incidents/service.ts';
import { NO_CIRCUMSTANCES } from '../../src/incidents/tickets/rules/evidence.ts';
import type { NewCrash } from '../../src/supervision/ports/store.ts';
import type { Graph } from '../../src/supervision/rules/graph.ts';
import { FakeClock } from './fake-clock.ts';
import { settings } from './ticket-samples.ts';

export function incidentsWorld(
  dependsOn: Readonly<Record<string, readonly string[]>> = {},
  clock = new FakeClock(),
  store: Store = openMemoryStore({ clock }),
  follow: Partial<Pick<IncidentServiceParts, 'crashSeen' | 'resolved' | 'handled' | 'simulated'>> = {},
) {
  const graph: Graph = new Map(Object.entries(dependsOn));
  const resolved: Incident[] = [];
  const events: string[] = [];
  const filed: number[] = [];
  /** How many commits each write had. */
  const batches: number[] = [];
  const incidentService = createIncidentService({
    ...{ store, clock, log: silentLog, shared: ALONE, simulated: follow.simulated ?? (() => null) },
    filing: createFiling({
      ...{ store, clock, settings: () => settings({ trackers: [] }), about: () => NO_CIRCUMSTANCES },
      ticketService: { filed: (tickets) => void filed.push(...tickets.map(({ number }) => number)) },
    }),
    graph: () => graph,
    commit: (...commits) => {
      batches.push(commits.length);
      events.push(...store.commit(...commits).map(({ type }) => type));
    },
    handled: (incident) => follow.handled?.(incident),
    crashSeen: (crash, incident) => follow.crashSeen?.(crash, incident),
    resolved: (incident) => {
      resolved.push(incident);
      follow.resolved?.(incident);
    },
  });
  return {
    ...{ clock, store, incidents: incidentService, resolved, events, filed, batches },
    /** As the supervisor commits it. */
    crash: (crash: NewCrash) => {
      const told = store.commit(incidentService.noted({ crash }));
      events.push(...told.map(({ type }) => type));
    },
  };
}
