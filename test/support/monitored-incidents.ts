/** Incidents with a real look at how components stand and a real service for alerts, in which time passes only when a test says so. */

import { noFailpoints } from '../../src/base/failpoints.ts';
import { silentLog } from '../../src/base/log.ts';
import { openMemoryStore } from '../../src/history/memory.ts';
import type { Store } from '../../src/history/ports.ts';
import { type AlertTopic, DEFAULT_TOPICS, FOLD_MS } from '../../src/incidents/alerts/rules/book.ts';
import type { AlertMessage } from '../../src/incidents/alerts/rules/message.ts';
import { createAlertService } from '../../src/incidents/alerts/service.ts';
import { IncidentMonitor } from '../../src/incidents/monitor.ts';
import { handlingOf } from '../../src/incidents/rules/incident.ts';
import type { ComponentSnapshot } from '../../src/supervision/component-snapshot.ts';
import { FakeClock } from './fake-clock.ts';
import { incidentsWorld } from './incidents-world.ts';

export const LOOK_MS = 2_000;
const HOUR_MS = 3_600_000;

export function monitoredIncidents(
  dependsOn: Readonly<Record<string, readonly string[]>> = {},
  clock = new FakeClock(),
  store: Store = openMemoryStore({ clock }),
  on: readonly AlertTopic[] = DEFAULT_TOPICS,
) {
  const messages: AlertMessage[] = [];
  const snapshots = new Map<string, ComponentSnapshot>();
  let kept: string | null = null;
  const service = createAlertService(
    {
      ...{ clock, log: silentLog, failpoints: noFailpoints, project: () => 'shop', tell: () => {} },
      memory: {
        read: () => kept,
        write: (text) => {
          kept = text;
        },
      },
      handling: ({ incident }) => handlingOf(incident === null ? null : store.incident(incident), clock.wallNow()),
      newId: () => `id-${messages.length}`,
      digest: () => ({ crashes: [], incidents: [], gaveUp: [] }),
      senders: () => [
        {
          ...{ id: 'here', name: 'here', on },
          send: async (message) => {
            messages.push(message);
            return { ok: true };
          },
        },
      ],
    },
    { on, channels: [], remindMs: 24 * HOUR_MS, digest: null, quietHours: null },
  );
  const world = incidentsWorld(dependsOn, clock, store, {
    crashSeen: (crash, incident) => monitor.crashSeen(crash, incident),
    resolved: (incident) => monitor.resolved(incident),
    handled: () => service.handled(),
  });
  const monitor = new IncidentMonitor({
    ...{ incidentService: world.incidents, alerts: service, clock, store },
    snapshots: () => [...snapshots.values()],
  });
  return {
    ...world,
    alerts: service,
    stands: (name: string, over: Partial<ComponentSnapshot> = {}) =>
      void snapshots.set(name, {
        ...{ name, state: 'running', isWell: true, upMs: 60_000, minUptimeMs: 0, isWanted: true, unwell: null },
        ...over,
      }),
    isGone: (name: string) => void snapshots.delete(name),
    looked: () => monitor.now(),
    /** What people were told since the last time, a look and what is folded later. */
    told: async (): Promise<readonly string[]> => {
      monitor.now();
      await clock.advance(FOLD_MS + LOOK_MS);
      return messages.splice(0).map(({ text }) => text);
    },
    /** The same, with everything in it. */
    messages: async (): Promise<readonly AlertMessage[]> => {
      monitor.now();
      await clock.advance(FOLD_MS + LOOK_MS);
      return messages.splice(0);
    },
  };
}
