/** What is not well without a crash: "what is wrong now?" is never empty while something is. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../../src/cli/commands/status.ts';
import { isAwaited } from '../../../src/incidents/rules/incident.ts';
import type { ComponentSnapshot } from '../../../src/supervision/component-snapshot.ts';
import { UNWELL_AFTER_MS, unwellOf } from '../../../src/supervision/rules/unwell.ts';
import type { ComponentView } from '../../../src/supervision/rules/views.ts';
import { crashOf } from '../../support/history-samples.ts';
import { LOOK_MS, monitoredIncidents } from '../../support/monitored-incidents.ts';

type Seen = Parameters<typeof unwellOf>[0];

const WELL: Seen = {
  ...{ name: 'api', state: 'running', condition: null, health: 'healthy', ready: true, desired: 'running' },
  ...{ removed: false, note: null, waiting_for: [], unknown_since: null },
};
const component = (name: string) => ({ kind: 'component', name }) as const;

describe('what is wrong with a component', () => {
  test.each<[string, Partial<Seen>, string | null]>([
    ['it is well', {}, null],
    ['it has completed', { state: 'completed', health: 'unknown', ready: false }, null],
    ['somebody stopped it', { state: 'stopped', health: 'unknown', ready: false, desired: 'stopped' }, null],
    ['it leaves the configuration', { state: 'stopping', ready: false, removed: true }, null],
    ['it put itself in the background', { condition: 'daemonised' }, null],
    [
      'its readiness fails',
      { ready: false, note: 'readiness tcp :80: refused' },
      'api is not ready: readiness tcp :80: refused',
    ],
    ['it is unhealthy', { health: 'unhealthy', ready: false }, 'api is not ready'],
    ['nobody knows how it is', { health: 'unknown', ready: false }, 'api is not ready'],
    ['it does not come up', { state: 'starting', health: 'starting', ready: false }, 'api is not ready'],
    [
      'it waits',
      { state: 'waiting', health: 'unknown', ready: false, waiting_for: ['db', 'mq'] },
      'api waits for db, mq',
    ],
    ['it is frozen', { condition: 'frozen', note: 'no heartbeat for 9 s' }, 'api is frozen: no heartbeat for 9 s'],
    [
      'its Engine is away',
      { condition: 'engine-unreachable' },
      'api cannot be reached: the Docker Engine does not answer',
    ],
    [
      'it is given up',
      { state: 'gave-up', health: 'unhealthy', ready: false, note: 'gave up' },
      'api does not run: gave up',
    ],
    ['it cannot be ended', { state: 'stopping', condition: 'unkillable', ready: false }, 'api cannot be ended'],
    [
      'it cannot be ended, though somebody wants it to',
      { state: 'stopping', condition: 'unkillable', ready: false, desired: 'stopped' },
      'api cannot be ended',
    ],
  ])('when %s', (_, over, title) => {
    expect(unwellOf({ ...WELL, ...over })?.title ?? null).toBe(title);
  });
});

test('whatever "keepwell status --exit-code" does not call well is wrong, and nothing else', () => {
  const states = [
    'stopped',
    'waiting',
    'starting',
    'running',
    'backing-off',
    'stopping',
    'completed',
    'gave-up',
  ] as const;
  const healths = ['unknown', 'starting', 'healthy', 'unhealthy'] as const;
  const conditions = [null, 'engine-unreachable', 'daemonised', 'unkillable', 'frozen'] as const;
  for (const state of states)
    for (const health of healths)
      for (const condition of conditions)
        for (const ready of [true, false])
          for (const desired of ['running', 'stopped'] as const) {
            const view = { ...WELL, state, health, condition, ready, desired };
            expect([view, unwellOf(view) === null]).toEqual([view, exitCodeOf([view as ComponentView]) === 0]);
          }
});

/** As the supervisor says that it stands. */
function standing(name: string, over: Partial<Seen>): Partial<ComponentSnapshot> {
  const seen = { ...WELL, name, ...over };
  const isWell = seen.state === 'running' && seen.health === 'healthy' && seen.ready && seen.condition === null;
  const isWanted = seen.desired === 'running' || unwellOf(seen) !== null;
  return { state: seen.state, isWell, upMs: seen.state === 'running' ? 60_000 : 0, isWanted, unwell: unwellOf(seen) };
}

const NOT_READY = { ready: false, note: 'readiness tcp :80: refused' } as const;
const waitsFor = (...names: string[]) =>
  ({ state: 'waiting', health: 'unknown', ready: false, waiting_for: names }) as const;

async function passes(world: ReturnType<typeof monitoredIncidents>, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += LOOK_MS) {
    world.looked();
    await world.clock.advance(LOOK_MS);
  }
  world.looked();
}

const open = (world: ReturnType<typeof monitoredIncidents>) => world.store.incidents({ state: 'open', limit: 100 });

describe('for longer than a minute', () => {
  test('what is not ready is an incident without a ticket, until it is ready; for less it is none', async () => {
    const world = monitoredIncidents({ api: [] });
    world.stands('api', standing('api', NOT_READY));
    await passes(world, UNWELL_AFTER_MS - LOOK_MS);
    expect(open(world)).toEqual([]);
    await passes(world, LOOK_MS);
    expect(open(world)).toMatchObject([
      { title: 'api is not ready: readiness tcp :80: refused', count: 1, ticket: null },
    ]);
    await passes(world, 10 * UNWELL_AFTER_MS);
    expect(open(world)).toMatchObject([{ count: 1 }]);
    world.stands('api');
    world.looked();
    expect(world.store.incident(1)?.state).toBe('resolved');
    expect(await world.told()).toEqual([]);
  });

  test('what waits for something that is not well is named with that, and waited for', async () => {
    const world = monitoredIncidents({ db: [], api: ['db'], web: ['api'] });
    world.stands('web', standing('web', waitsFor('api')));
    world.stands('api', standing('api', waitsFor('db')));
    world.stands('db', standing('db', NOT_READY));
    await passes(world, UNWELL_AFTER_MS);
    expect(open(world)).toMatchObject([{ subject: { name: 'db' }, affected: ['api', 'web'] }]);
    world.stands('db');
    world.looked();
    expect(open(world)).toMatchObject([{ waiting: ['component api', 'component web'] }]);
    world.stands('api');
    world.stands('web');
    world.looked();
    expect(open(world)).toEqual([]);
  });

  test('what waits for something that somebody stopped has an incident of its own', async () => {
    const world = monitoredIncidents({ db: [], api: ['db'] });
    world.stands('db', standing('db', { state: 'stopped', health: 'unknown', ready: false, desired: 'stopped' }));
    world.stands('api', standing('api', waitsFor('db')));
    await passes(world, UNWELL_AFTER_MS);
    expect(open(world)).toMatchObject([{ title: 'api waits for db' }]);
    world.stands('api', standing('api', { state: 'stopped', health: 'unknown', ready: false, desired: 'stopped' }));
    world.looked();
    expect(open(world)).toEqual([]);
  });

  test('an Engine that is away is one incident for all its containers', async () => {
    const world = monitoredIncidents({ a: [], b: ['a'], c: [] });
    for (const name of ['a', 'b', 'c'])
      world.stands(name, standing(name, { condition: 'engine-unreachable', ready: false }));
    await passes(world, UNWELL_AFTER_MS);
    expect(open(world).map(({ subjects }) => subjects.map(({ name }) => name))).toEqual([['a', 'b', 'c']]);
  });

  test('one that went down with another and waits for a third afterwards keeps the first incident open', async () => {
    const world = monitoredIncidents({ redis: [], postgres: [], orders: ['redis', 'postgres'] });
    world.crash(crashOf('redis', 1, { fingerprint: 'v1:redis' }));
    world.crash(crashOf('orders', 2, { fingerprint: 'v1:orders' }));
    world.stands('redis');
    world.stands('postgres', standing('postgres', NOT_READY));
    world.stands('orders', standing('orders', waitsFor('postgres')));
    await passes(world, UNWELL_AFTER_MS);
    expect(open(world)).toMatchObject([
      { subject: { name: 'postgres' }, affected: ['orders'] },
      { subject: { name: 'redis' }, affected: ['orders'], waiting: ['component orders'] },
    ]);
    world.stands('orders');
    world.looked();
    expect(open(world)).toMatchObject([{ subject: { name: 'postgres' } }]);
  });

  test('what is not ready and then crashes is one incident, named by the crash', async () => {
    const world = monitoredIncidents({ api: [] });
    world.stands('api', standing('api', NOT_READY));
    await passes(world, UNWELL_AFTER_MS);
    world.crash(crashOf('api', 1, { fingerprint: 'v1:api', errorType: 'KeyError' }));
    expect(open(world)).toMatchObject([{ id: 2, title: 'api: KeyError', affected: [] }]);
    expect(world.store.incident(1)).toMatchObject({ state: 'resolved', foldedInto: 2 });
  });

  test('what freezes and is only watched has the incident of its freeze, also when it is ended in the end', async () => {
    const world = monitoredIncidents({ loop: [] });
    world.stands('loop', standing('loop', { condition: 'frozen', note: 'no heartbeat for 9 s' }));
    await passes(world, UNWELL_AFTER_MS);
    const freeze = { reason: 'frozen: no heartbeat for 9 s', silent_since: '', steps: [], evidence: [] };
    const { exit } = crashOf('loop', 1);
    world.crash(crashOf('loop', 1, { freeze, exit: { ...exit, unhealthy: freeze.reason } }));
    expect(open(world)).toMatchObject([{ id: 1, title: 'loop: frozen: no heartbeat for 9 s', count: 2 }]);
  });
});

const NAMES = ['db', 'cache', 'api', 'web', 'cron'];
const GRAPH = { db: [], cache: [], api: ['db', 'cache'], web: ['api'], cron: ['db'] };
const LOOKS: readonly Partial<Seen>[] = [
  {},
  {},
  NOT_READY,
  waitsFor('db'),
  { condition: 'frozen', note: 'silent' },
  { condition: 'engine-unreachable', ready: false, health: 'unknown' },
  { state: 'gave-up', health: 'unhealthy', ready: false },
  { state: 'backing-off', health: 'unhealthy', ready: false },
  { state: 'starting', health: 'starting', ready: false },
  { state: 'completed', health: 'unknown', ready: false },
  { state: 'stopped', health: 'unknown', ready: false, desired: 'stopped' },
  { state: 'stopping', health: 'unknown', ready: false, desired: 'stopped', condition: 'unkillable' },
];

test('whatever happens, what has been wrong for more than a minute is named by an open incident, and none is open when all is well', async () => {
  const name = fc.constantFrom(...NAMES);
  const turn = fc.oneof(
    fc.record({ kind: fc.constant('looks' as const), name, look: fc.constantFrom(...LOOKS) }),
    fc.record({ kind: fc.constant('crashes' as const), name, cause: fc.nat(5) }),
    fc.record({ kind: fc.constant('passes' as const), looks: fc.integer({ min: 1, max: 40 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 5, maxLength: 40 }), async (turns) => {
      const world = monitoredIncidents(GRAPH);
      const views = new Map<string, Pick<ComponentView, 'name'> & Seen>();
      const wrongSince = new Map<string, number>();
      const see = (each: string, over: Partial<Seen>) => {
        views.set(each, { ...WELL, name: each, ...over });
        world.stands(each, standing(each, over));
        if (unwellOf(views.get(each)!) === null) wrongSince.delete(each);
        else if (!wrongSince.has(each)) wrongSince.set(each, world.clock.now());
      };
      for (const each of NAMES) see(each, {});
      const all = [...turns, { kind: 'passes', looks: 40 } as const];
      for (const [run, each] of all.entries()) {
        if (each.kind === 'looks') see(each.name, each.look);
        else if (each.kind === 'crashes') world.crash(crashOf(each.name, run + 1, { fingerprint: `v1:${each.cause}` }));
        else {
          for (let look = 0; look < each.looks; look += 1) await passes(world, LOOK_MS);
          const lasting = NAMES.filter(
            (one) => world.clock.now() - (wrongSince.get(one) ?? Infinity) > UNWELL_AFTER_MS + LOOK_MS,
          );
          const unnamed = lasting.filter((one) => !open(world).some((incident) => isAwaited(incident, component(one))));
          expect(unnamed).toEqual([]);
        }
      }
      for (const each of NAMES) see(each, {});
      await passes(world, LOOK_MS);
      expect(open(world)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
