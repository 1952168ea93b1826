import { noFailpoints } from '../../src/base/failpoints.ts';
import { silentLog } from '../../src/base/log.ts';
import { openMemoryStore } from '../../src/history/memory.ts';
import type { ComponentSpec } from '../../src/supervision/spec.ts';
import { Supervisor } from '../../src/supervision/supervisor.ts';
import { spec } from './builders.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeDriver } from './fake-driver.ts';
import { FakeHeartbeatSources } from './fake-heartbeat-sources.ts';
import { FakeProber, FakeStalls } from './fake-prober.ts';
import { FakeSampler } from './fake-sampler.ts';

const commandOf = ({ driver }: ComponentSpec) => (driver.kind === 'process' ? driver.command : []);

/** A supervisor in a world without processes, where time passes only when a test says so. */
export function supervisorWorld(
  specs: readonly ComponentSpec[],
  clock = new FakeClock(),
  store = openMemoryStore({ clock }),
) {
  const driver = new FakeDriver(clock);
  const prober = new FakeProber();
  const stalls = new FakeStalls();
  const sampler = new FakeSampler();
  const heartbeatSources = new FakeHeartbeatSources();
  /** How much every component has written so far. */
  const written = { bytes: 0 };
  let salt = 0;
  const events: string[] = [];
  const supervisor = new Supervisor({
    clock,
    random: () => (salt++ % 1_000) / 1_000,
    driver,
    store,
    log: silentLog,
    failpoints: noFailpoints,
    prober,
    stalls,
    sampler,
    logEnd: () => written.bytes,
    heartbeatSources,
    examine: async () => heartbeatSources.findings,
    specHash: (each) => JSON.stringify(each.driver),
    ingredients: () => ({}),
    straySpec: (name) => spec(name),
    launch: (each, run) => ({
      kind: 'process',
      run,
      component: each.name,
      command: commandOf(each),
      cwd: '/',
      env: {},
      logPath: '/dev/null',
      specHash: '',
    }),
    evidence: () => ({ logTail: [], changedSinceGood: [], errorType: null, errorMessage: null, rootCause: null }),
    fatal: (error) => {
      throw error;
    },
    record: (...commits) =>
      void events.push(...store.commit(...commits).map(({ subject, type }) => `${subject.name} ${type}`)),
  });
  supervisor.open(specs, () => ({ desired: 'stopped', isNewer: false }));
  const state = (name: string) => supervisor.views().find((view) => view.name === name)?.state;
  return {
    clock,
    driver,
    supervisor,
    store,
    events,
    state,
    prober,
    stalls,
    sampler,
    sources: heartbeatSources,
    written,
  };
}
