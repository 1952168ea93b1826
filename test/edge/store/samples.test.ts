import { afterEach, describe, expect, test, vi } from 'vitest';
import { MAX_STRETCHES } from '../../../src/history/sqlite/connection.ts';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { crashOf, eventOf, sampledOf, stretchOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { column, query, upTo } from './inspect.ts';
import { fullDisk, openStore } from './open-store.ts';

afterEach(() => void vi.useRealTimers());

const ofApi = { component: 'api', limit: 20_000 };

test('samples are there for the next daemon, and for whoever reads beside it', async () => {
  using dir = tempDir();
  const first = await openStore(dir.at('keepwell.db'));
  first.store.commit({ sampled: [sampledOf('api', 1), sampledOf('api', 2)] });
  first.store.close();
  using second = await openStore(dir.at('keepwell.db'));
  second.store.commit({ sampled: [sampledOf('api', 2, { count: 50 })] });
  const history = await openHistory(dir.at('keepwell.db'));
  for (const reader of [second.store, history])
    expect(reader.samples(ofApi)).toEqual([sampledOf('api', 2, { count: 50 }), sampledOf('api', 1)]);
  history.close();
});

test('the history of a component is found by an index, however much others used', async () => {
  using dir = tempDir();
  (await openStore(dir.at('keepwell.db'))).store.close();
  const sql =
    "SELECT * FROM samples WHERE component = 'api' AND last_at >= 0 ORDER BY first_at DESC, run_id DESC LIMIT 5";
  const [plan] = await query(dir.at('keepwell.db'), `EXPLAIN QUERY PLAN ${sql}`);
  expect(plan?.['detail']).toContain('USING INDEX samples_by_component');
});

describe('while the disk is full', () => {
  test('kept samples are laid over the written ones, in their places', async () => {
    using dir = tempDir();
    const disk = fullDisk('store.write');
    disk.isFull = false;
    using opened = await openStore(dir.at('keepwell.db'), disk);
    const { store } = opened;
    store.commit({ sampled: [1, 2, 3, 5].map((n) => sampledOf('api', n)) });
    disk.isFull = true;
    const longer = sampledOf('api', 2, { count: 70 });
    store.commit({ sampled: [longer, sampledOf('api', 4)] });
    const shown = [sampledOf('api', 5), sampledOf('api', 4), sampledOf('api', 3), longer, sampledOf('api', 1)];
    const check = () => {
      for (const limit of [0, 1, 2, 4, 5])
        expect(store.samples({ component: 'api', limit })).toEqual(shown.slice(0, limit));
    };
    check();
    disk.isFull = false;
    store.commit({});
    expect(store.health()).toBe('ok');
    check();
  });

  test('too much of everything: samples are dropped before probe answers, and those before events', async () => {
    using dir = tempDir();
    const disk = fullDisk('store.write');
    using opened = await openStore(dir.at('keepwell.db'), disk);
    const { store } = opened;
    store.commit({ crash: crashOf('api', 1), events: [eventOf('api', 'kept')] });
    const probes = 4_000;
    store.commit({ probed: upTo(probes).map((n) => stretchOf('api', n)) });
    for (const n of upTo(10)) store.commit({ sampled: upTo(1_000).map((i) => sampledOf('api', n * 1_000 + i)) });
    expect(store.health()).toMatch(/kept in memory since .*; samples dropped$/);
    const left = store.samples(ofApi).length;
    expect(left).toBeGreaterThan(4_000);
    expect(left + probes).toBeLessThan(10_000);
    expect(store.samples(ofApi)[0]).toEqual(sampledOf('api', 11_000));
    expect(store.probes(ofApi)).toHaveLength(probes);
    disk.isFull = false;
    await waitFor('everything to be written', () => store.health() === 'ok');
    expect(opened.told).toMatchObject([{ type: 'store.samples-dropped', data: {} }]);
    expect(await column(dir.at('keepwell.db'), 'SELECT count(*) FROM samples')).toEqual([left]);
    expect(await column(dir.at('keepwell.db'), 'SELECT count(*) FROM probe_results')).toEqual([probes]);
    expect(store.crashes({})).toHaveLength(1);
  });

  test('a stretch that goes on is kept once, however often it comes', async () => {
    using dir = tempDir();
    const disk = fullDisk('store.write');
    using opened = await openStore(dir.at('keepwell.db'), disk);
    const { store } = opened;
    for (const count of upTo(100)) store.commit({ sampled: [sampledOf('api', 1, { count })] });
    expect(store.health()).toMatch(/, 1 record kept in memory since \d\d:\d\d:\d\d$/);
    expect(store.samples(ofApi)).toEqual([sampledOf('api', 1, { count: 100 })]);
  });
});

test('the oldest samples of each component are deleted when there are too many, and probes are left alone', async () => {
  vi.useFakeTimers();
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  const { store } = opened;
  store.commit({ sampled: upTo(MAX_STRETCHES + 7).map((n) => sampledOf('api', n)), probed: [stretchOf('api')] });
  store.commit({ sampled: upTo(10).map((n) => sampledOf('db', n)) });
  vi.advanceTimersByTime(60_000);
  expect(store.samples(ofApi)).toHaveLength(MAX_STRETCHES);
  expect(store.samples(ofApi).at(-1)).toEqual(sampledOf('api', 8));
  expect(store.samples({ component: 'db', limit: 100 })).toHaveLength(10);
  expect(store.probes(ofApi)).toHaveLength(1);
});
