/** Whatever the disk takes and refuses meanwhile: all questions are answered as by a store that needs none. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentName } from '../../../src/agents/rules/task.ts';
import { silentLog } from '../../../src/base/log.ts';
import { componentName, type WallMs } from '../../../src/base/pure/ids.ts';
import { openMemoryStore } from '../../../src/history/memory.ts';
import type { Commit, Store } from '../../../src/history/ports.ts';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { openSqliteStore } from '../../../src/history/sqlite/sqlite-store.ts';
import { agentRecord } from '../../support/agent-samples.ts';
import { incidentOf } from '../../support/case-samples.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import {
  begunOf,
  checkedOf,
  crashOf,
  endedOf,
  eventOf,
  NOON,
  recordOf,
  runOf,
  sampledOf,
  stretchOf,
  wall,
} from '../../support/history-samples.ts';
import { sessionRecord } from '../../support/session-record.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { ticketSample } from '../../support/ticket-samples.ts';
import { fullDisk } from './open-store.ts';

const NAMES = ['api', 'db'] as const;
const name = fc.constantFrom(...NAMES);
const few = fc.integer({ min: 1, max: 4 });
/** Everything comes again: with the same key and something else in it. */
const about = fc.record({ name, n: few, version: fc.nat(3), isOver: fc.boolean() });
type About = {
  readonly name: (typeof NAMES)[number];
  readonly n: number;
  readonly version: number;
  readonly isOver: boolean;
};

const at = (n: number) => (NOON + n * 1_000) as WallMs;

const FACTS: Readonly<Record<string, (about: About) => Commit>> = {
  record: ({ name, version, isOver }) => ({
    record: recordOf(name, { specHash: `${version}`, desired: isOver ? 'stopped' : 'running' }),
  }),
  events: ({ name, n, version }) => ({
    events: [eventOf(name, `t${version}`), eventOf(name, 'daemon', { subject: { kind: 'daemon', name }, data: { n } })],
  }),
  begun: ({ name, n, version }) => ({
    runBegun: begunOf(name, n, { at: at(version), ingredients: { command: `${n}${version}` }, logOffset: version }),
  }),
  pid: ({ name, n, version }) => ({ runPid: { run: runOf(name, n), pid: version } }),
  ended: ({ name, n, isOver }) => ({ runEnded: endedOf(name, n, { good: isOver }) }),
  crash: ({ name, n, version, isOver }) => ({
    crash: crashOf(name, n, {
      errorType: `E${version}`,
      ...(isOver ? { incident: version + 1 } : { taskId: `T-${version}`, agentType: name }),
    }),
  }),
  probed: ({ name, n, version }) => ({ probed: [stretchOf(name, n, { count: version }), stretchOf(name, n + 1)] }),
  sampled: ({ name, n, version }) => ({ sampled: [sampledOf(name, n, { count: version, cpuPercent: version / 3 })] }),
  checked: ({ name, n, version }) => ({ checked: [checkedOf(name, n, { count: version })] }),
  session: ({ name, n, version, isOver }) => ({
    session: sessionRecord({
      ...{ id: `${name}${n}`, user: name, restarts: version },
      ...(isOver ? { state: 'ended', end: { reason: 'stopped', why: '', at: at(version) } } : {}),
    }),
  }),
  agents: ({ name, n, version, isOver }) => ({
    agents: [
      agentRecord({
        ...{ name: agentName(name, `T-${n}`), task: `T-${n}`, pid: version },
        ...(isOver ? { state: { kind: 'finished' }, endedAt: at(version) } : {}),
      }),
    ],
  }),
  healthCheck: ({ n }) => ({
    healthCheck: {
      ...{ at: at(n), status: 'healthy', activeAgents: n, crashedAgents: 0, zombieProcesses: 0 },
      ...{ orchestratorResponsive: null, lastPollAgeSeconds: 1.5, actionsTaken: [], bugsReported: [n] },
    },
  }),
  incidents: ({ n, version, isOver }) => ({
    incidents: [
      incidentOf(n, {
        ...{ count: version, fingerprint: `v1:${n % 2}`, ticket: version === 0 ? null : version },
        ...(isOver ? { state: 'resolved', resolvedAt: at(version), waiting: [] } : {}),
      }),
    ],
  }),
  tickets: ({ n, version, isOver }) => ({
    tickets: [
      {
        ...ticketSample(),
        ...{ number: n, count: version, fingerprint: `v1:${n % 2}` },
        ...(isOver ? { state: 'closed', closedAt: at(version) } : {}),
      },
    ],
  }),
};

const commit = fc
  .array(fc.tuple(fc.constantFrom(...Object.keys(FACTS)), about), { minLength: 1, maxLength: 3 })
  .map((facts): Commit => Object.assign({}, ...facts.map(([fact, what]) => FACTS[fact]!(what))));

type Step = { readonly disk: 'full' | 'free' } | { readonly run: (store: Store) => unknown };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(commit, { minLength: 1, maxLength: 3 }).map((all) => ({ run: (s: Store) => s.commit(...all) })),
  },
  { weight: 1, arbitrary: name.map((gone) => ({ run: (s: Store) => s.forget(componentName(gone)) })) },
  { weight: 1, arbitrary: few.map((n) => ({ run: (s: Store) => s.setMeta('key', `${n}`) })) },
  { weight: 3, arbitrary: fc.constantFrom({ disk: 'full' as const }, { disk: 'free' as const }) },
);

/** Every question there is, with limits that cut and limits that do not. */
function answers(history: Omit<Store, 'commit' | 'setMeta' | 'forget' | 'health' | 'close'>): unknown {
  const limited = (limit: number) => ({
    crashes: [
      history.crashes({ limit }),
      ...NAMES.map((component) => history.crashes({ component, limit })),
      ...[1, 2].map((incident) => history.crashes({ incident, limit })),
      history.crashes({ task: 'T-1', limit }),
      history.crashes({ type: 'E2', since: wall(2_000), limit }),
    ].map((crashes) => crashes.map(({ id: _, ...crash }) => crash)),
    events: NAMES.map((component) => [
      history.events({ afterSeq: 1, limit }),
      history.events({ afterSeq: 0, limit, component }),
    ]),
    runs: [history.runs({ limit }), ...NAMES.map((component) => history.runs({ component, limit }))],
    probes: NAMES.map((component) => [
      history.probes({ component, limit }),
      history.probes({ component, run: runOf(component, 2), limit }),
    ]),
    samples: NAMES.map((component) => [
      history.samples({ component, limit }),
      history.samples({ component, since: wall(48_000), limit }),
    ]),
    checks: NAMES.map((check) => history.checkResults({ check, limit })),
    ended: [history.sessions({ which: 'ended', limit }), history.sessions({ which: 'ended', user: 'api', limit })],
    healthChecks: history.healthChecks({ limit }),
    incidents: ([undefined, 'open', 'resolved'] as const).map((state) => history.incidents({ state, limit })),
    tickets: ([undefined, 'open', 'closed'] as const).map((state) => history.tickets({ state, limit })),
  });
  return {
    components: history.components(),
    meta: history.meta('key'),
    numbers: [history.lastNumber('incident'), history.lastNumber('ticket')],
    why: NAMES.map((component) => ({ ...history.why({ component }), id: null })),
    run: NAMES.map((component) => history.run(runOf(component, 1))),
    good: NAMES.map((component) => history.lastGoodIngredients(componentName(component))),
    open: history.sessions({ which: 'open', limit: 0 }),
    session: history.session('api1'),
    agents: history.agents(),
    byFingerprint: ['v1:0', 'v1:1'].map((key) => [history.incidentOf(key), history.ticketByFingerprint(key)]),
    byNumber: [1, 2, 3].map((number) => [history.incident(number), history.ticket(number)]),
    ...[1, 3, 1_000].map(limited),
  };
}

test('the answers are those of a store in memory, at every moment and after all is written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      using dir = tempDir();
      const disk = fullDisk('store.write');
      disk.isFull = false;
      const clock = new FakeClock();
      const model = openMemoryStore({ clock });
      const options = { path: dir.at('keepwell.db'), log: silentLog, failpoints: disk, clock };
      const store = await openSqliteStore(options);
      try {
        for (const one of steps) {
          if ('disk' in one) disk.isFull = one.disk === 'full';
          else for (const each of [model, store]) one.run(each);
          expect(answers(store)).toEqual(answers(model));
        }
        disk.isFull = false;
        store.commit({});
        expect(store.health()).toBe('ok');
        expect(answers(store)).toEqual(answers(model));
      } finally {
        store.close();
      }
      const history = await openHistory(dir.at('keepwell.db'));
      expect(answers(history)).toEqual(answers(model));
      history.close();
    }),
    { numRuns: 30 },
  );
});

test('of what changes again and again the newest state waits, and of an incident those that belong to the last crashes', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.write');
  const store = await openSqliteStore({
    path: dir.at('keepwell.db'),
    log: silentLog,
    failpoints: disk,
    clock: new FakeClock(),
  });
  for (let count = 1; count <= 700; count += 1) {
    store.commit({ session: sessionRecord({ restarts: count }), agents: [agentRecord({ pid: count })] });
    store.commit({ incidents: [incidentOf(1, { count })] });
  }
  expect(store.health()).toMatch(/, 503 records kept in memory since/);
  expect([store.incident(1)?.count, store.lastNumber('incident')]).toEqual([700, 1]);
  disk.isFull = false;
  store.commit({});
  expect(store.health()).toBe('ok');
  expect([store.incident(1)?.count, store.agents()[0]?.pid, store.lastNumber('incident')]).toEqual([700, 700, 1]);
  store.close();
});
