/** Hosts as the daemon puts them together, without components: a history on disk, incidents with tickets and alerts, and the shared memory. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/base/clock.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import type { Log } from '../../../src/base/log.ts';
import type { RunId } from '../../../src/base/pure/ids.ts';
import { loadConfigFromTexts } from '../../../src/config/load.ts';
import { parseStoreAddress, type StoreAddress } from '../../../src/fleet/rules/store-address.ts';
import type { HostIdentity } from '../../../src/fleet/store/book.ts';
import { FleetStore, type FleetTimes } from '../../../src/fleet/store/service.ts';
import { createRecorder, createTeller } from '../../../src/history/recorder.ts';
import { openSqliteStore } from '../../../src/history/sqlite/sqlite-store.ts';
import { openIncidents } from '../../../src/incidents/open.ts';
import { ALONE, incidentKey, type SharedTelling } from '../../../src/incidents/ports.ts';
import { NO_CIRCUMSTANCES } from '../../../src/incidents/tickets/rules/evidence.ts';
import type { StatusView } from '../../../src/supervision/rules/views.ts';
import { crashOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';

export interface Told {
  readonly path: string;
  readonly body: {
    readonly action?: string;
    readonly project?: string;
    readonly ticket?: { readonly fingerprint: string };
    readonly alerts?: readonly {
      readonly state: string;
      readonly kind: string;
      readonly key: string;
      readonly text: string;
    }[];
  };
}

/** Where people are: takes what trackers and channels send. */
export async function people() {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      told.push({ path: request.url!, body: JSON.parse(text) as Told['body'] });
      response.end('{"url": "https://tracker.example/1"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    actions: (action: string) => told.filter(({ body }) => body.action === action),
    alerts: (state: string) => told.flatMap(({ body }) => (body.alerts ?? []).filter((alert) => alert.state === state)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const addressOf = (url: string): StoreAddress => {
  const address = parseStoreAddress(url);
  if ('problem' in address) throw new Error(address.problem);
  return address;
};

export interface HostOptions {
  readonly name: string;
  readonly url: string;
  readonly people: string;
  readonly times?: Partial<FleetTimes>;
  readonly identity?: Partial<HostIdentity>;
}

const FAST: Partial<FleetTimes> = { beatMs: 300, retryMs: 100, answerMs: 10_000 };

export async function openHost({ name, url, people: at, times = {}, identity = {} }: HostOptions) {
  const dir = tempDir();
  const logged: string[] = [];
  const say = (message: string, data?: unknown) => void logged.push(`${message} ${JSON.stringify(data ?? {})}`);
  const log: Log = { info: say, warn: say, error: say };
  const clock = systemClock;
  const path = dir.at('keepwell.db');
  const store = await openSqliteStore({ clock, log, failpoints: noFailpoints, path });
  const text = `
version: 1
name: ${name}
components: { api: { process: { command: ["true"] } } }
tickets: { trackers: [{ webhook: { url: "${at}/tickets" } }] }
alerts: { channels: [{ webhook: { url: "${at}/alerts" } }], remind: never }
`;
  const config = loadConfigFromTexts({ files: [{ path: dir.at('keepwell.yaml'), text }], dotenv: null, env: {} });
  const now: { fleet: FleetStore | null } = { fleet: null };
  const shared = (): SharedTelling => now.fleet ?? ALONE;
  const write = createRecorder(
    store,
    () => {},
    (commits) => now.fleet?.noted(commits),
  );
  const incidents = openIncidents({
    ...{ store, log, failpoints: noFailpoints, base: {}, write, tell: createTeller(write, clock) },
    ...{ config: () => config, onConfig: () => {}, simulated: () => null, aboutAgent: () => NO_CIRCUMSTANCES },
    commands: { run: () => Promise.reject(new Error('no commands here')) },
    shared: {
      name: () => shared().name(),
      alerter: (fingerprint) => shared().alerter(fingerprint),
      holdsBack: (fingerprint) => shared().holdsBack(fingerprint),
      mayTell: (call, signal) => shared().mayTell(call, signal),
    },
  });
  const host: HostIdentity = {
    ...{ id: name, name, project: name, machine: 'machine', home: dir.path, version: '0.1.0' },
    ...identity,
  };
  const status = (): StatusView => ({
    ...{ schema_version: 1, project: name, components: [] },
    daemon: {
      ...{ running: true, answers: true, pid: 1, version: '0.1.0', started_at: null, store: 'ok', loop_delay_ms: null },
      ...{ guardian_pid: null, logs: null, sessions: null, alerts: null },
    },
  });
  let runs = 0;
  const join = () => {
    now.fleet = new FleetStore({
      ...{ address: addressOf(url), host, history: store, clock, log, random: Math.random, status },
      ...{ incidents: incidents.incidentService, alerts: incidents.alerts, retentionMs: () => 7 * 86_400_000 },
      times: { ...FAST, ...times },
    });
  };
  join();
  return {
    ...{ name, host, store, incidents, logged, join },
    fleet: () => now.fleet!,
    /** A crash of this kind, as the supervisor records it. */
    crash: (kind: string) => {
      runs += 1;
      const crash = crashOf('api', runs, { at: clock.wallNow(), fingerprint: kind, rootCause: `cause of ${kind}` });
      const run = `api~${String(runs).padStart(15, '0')}` as RunId;
      const event = { at: clock.wallNow(), subject: crash.subject, type: 'run.ended', run, data: { kind } };
      incidents.record({ crash: { ...crash, run }, events: [event] });
    },
    /** As the monitor does when a component is given up. */
    alarm: (kind: string) => {
      const incident = store.incidentOf(kind)!;
      incidents.alerts.raise({
        ...{ kind: 'gave-up', key: incidentKey(incident.id), subject: incident.subject, text: `${kind} is down` },
        ...{ incident: incident.id, ticket: incident.ticket },
      });
    },
    well: () => incidents.incidentService.recovered({ kind: 'component', name: 'api' }),
    /** As `kill -9` of the daemon: nobody says good-bye. */
    vanish: async () => {
      await now.fleet?.close({ isDown: false });
      now.fleet = null;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([now.fleet?.close({ isDown: false }), incidents.close()]);
      store.close();
      dir[Symbol.dispose]();
    },
  };
}

export type SimulatedHost = Awaited<ReturnType<typeof openHost>>;
