/** Incidents with a real look at how components stand and a real service for alerts, in which time passes only when a test says so. */

import { noFailpoints } from '../../src/base/failpoints.ts';
import { silentLog } from '../../src/base/log.ts';
import { openMemoryStore } from '../../src/history/memory.ts';
import type { Store } from '../../src/history/ports.ts';
import { ALERT_KINDS, FOLD_MS } from '../../src/incidents/alerts/rules/book.ts';
import type { AlertMessage } from '../../src/incidents/alerts/rules/message.ts';
import { createAlertService } from '../../src/incidents/alerts/service.ts';
import { Look } from '../../src/incidents/look.ts';
import type { ComponentStanding } from '../../src/supervision/standings.ts';
import { FakeClock } from './fake-clock.ts';
import { incidentsWorld } from './incidents-world.ts';

export const LOOK_MS = 2_000;
const HOUR_MS = 3_600_000;

export function lookWorld(
  dependsOn: Readonly<Record<string, readonly string[]>> = {},
  clock = new FakeClock(),
  store: Store = openMemoryStore({ clock }),
) {
  const messages: AlertMessage[] = [];
  const standings = new Map<string, ComponentStanding>();
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
      newId: () => `id-${messages.length}`,
      senders: () => [
        {
          ...{ id: 'here', name: 'here' },
          send: async (message) => {
            messages.push(message);
            return { ok: true };
          },
        },
      ],
    },
    { on: ALERT_KINDS, channels: [], remindMs: 24 * HOUR_MS },
  );
  const world = incidentsWorld(dependsOn, clock, store, {
    crashSeen: (crash, incident) => look.crashSeen(crash, incident),
    resolved: (incident) => look.resolved(incident),
  });
  const look = new Look({
    ...{ incidentService: world.incidents, alerts: service, clock, store },
    standings: () => [...standings.values()],
  });
  return {
    ...world,
    alerts: service,
    stands: (name: string, over: Partial<ComponentStanding> = {}) =>
      void standings.set(name, {
        ...{ name, state: 'running', isWell: true, upMs: 60_000, minUptimeMs: 0, isWanted: true, unwell: null },
        ...over,
      }),
    isGone: (name: string) => void standings.delete(name),
    looked: () => look.now(),
    /** What people were told since the last time, a look and what is folded later. */
    told: async (): Promise<readonly string[]> => {
      look.now();
      await clock.advance(FOLD_MS + LOOK_MS);
      return messages.splice(0).map(({ text }) => text);
    },
    /** The same, with everything in it. */
    messages: async (): Promise<readonly AlertMessage[]> => {
      look.now();
      await clock.advance(FOLD_MS + LOOK_MS);
      return messages.splice(0);
    },
  };
}
