import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import type { ProbeStretch } from '../../../src/supervision/rules/health/stretch.ts';
import { begunOf, crashOf, endedOf, eventOf, runOf, stretchOf, wall } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { column, upTo } from './inspect.ts';
import { fullDisk, openStore } from './open-store.ts';

afterEach(() => void vi.useRealTimers());

const ofApi = { component: 'api', limit: 20_000 };
const beginnings = (stretches: readonly ProbeStretch[]) => stretches.map(({ firstAt }) => (firstAt - wall(0)) / 1_000);

test('probes are there for the next daemon, and for whoever reads beside it', async () => {
  using dir = tempDir();
  const first = await openStore(dir.at('keepwell.db'));
  first.store.commit({
    probed: [stretchOf('api', 1), stretchOf('api', 2)],
    runBegun: begunOf('api', 1, { logOffset: 9 }),
  });
  first.store.close();
  using second = await openStore(dir.at('keepwell.db'));
  second.store.commit({ probed: [stretchOf('api', 2, { count: 50 })] });
  const history = await openHistory(dir.at('keepwell.db'));
  for (const reader of [second.store, history]) {
    expect(reader.probes(ofApi)).toEqual([stretchOf('api', 2, { count: 50 }), stretchOf('api', 1)]);
    expect(reader.run(runOf('api', 1))).toMatchObject({ logOffset: 9 });
  }
  history.close();
});

test('a damaged row hides no other, and claims no failure', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  opened.store.commit({
    probed: [
      stretchOf('api', 1),
      stretchOf('api', 2, { role: 'moodiness' as never }),
      stretchOf('api', 3, { outcome: 'fxil' as never }),
    ],
  });
  expect(opened.store.probes(ofApi)).toEqual([stretchOf('api', 3, { outcome: 'inconclusive' }), stretchOf('api', 1)]);
});

describe('while the disk is full', () => {
  test('kept stretches are laid over the written ones, in their places', async () => {
    using dir = tempDir();
    const disk = fullDisk('store.write');
    disk.isFull = false;
    using opened = await openStore(dir.at('keepwell.db'), disk);
    const { store } = opened;
    store.commit({
      probed: [1, 2, 3, 5].map((n) => stretchOf('api', n)),
      runBegun: begunOf('api', 1, { logOffset: 5 }),
    });
    disk.isFull = true;
    const longer = stretchOf('api', 2, { count: 70 });
    store.commit({ probed: [longer, stretchOf('api', 4)], runEnded: endedOf('api', 1) });
    store.commit({ runBegun: begunOf('api', 2, { logOffset: 6 }), crash: crashOf('api', 2, { probes: [longer] }) });
    const shown = [stretchOf('api', 5), stretchOf('api', 4), stretchOf('api', 3), longer, stretchOf('api', 1)];
    const check = () => {
      expect(store.probes(ofApi)).toEqual(shown);
      for (const limit of [0, 1, 2, 4, 5])
        expect(store.probes({ component: 'api', limit })).toEqual(shown.slice(0, limit));
      expect(store.probes({ ...ofApi, run: runOf('api', 2) })).toEqual([longer]);
      expect(store.run(runOf('api', 1))).toMatchObject({ logOffset: 5, endedAt: wall(1_500) });
      expect(store.runs({ limit: 10 }).map(({ logOffset }) => logOffset)).toEqual([6, 5]);
      expect(store.why({ component: 'api' })?.probes).toMatchObject([{ count: 70 }]);
    };
    check();
    disk.isFull = false;
    store.commit({});
    expect(store.health()).toBe('ok');
    check();
  });

  test('a stretch that goes on is kept once, however often it comes', async () => {
    using dir = tempDir();
    const disk = fullDisk('store.write');
    using opened = await openStore(dir.at('keepwell.db'), disk);
    const { store } = opened;
    for (const count of upTo(100))
      store.commit({ probed: [stretchOf('api', 1, { count }), stretchOf('db', 1, { count })] });
    store.commit({ probed: [stretchOf('api', 2)], onDurable: () => {} });
    expect(store.health()).toMatch(/, 2 records kept in memory since \d\d:\d\d:\d\d$/);
    expect(store.probes(ofApi)).toEqual([stretchOf('api', 2), stretchOf('api', 1, { count: 100 })]);
    disk.isFull = false;
    store.close();
    const sql = "SELECT component || ' ' || count FROM probe_results ORDER BY rowid";
    expect(await column(dir.at('keepwell.db'), sql)).toEqual(['api 100', 'db 100', 'api 5']);
  });

  test('too many stretches: the oldest are dropped, nothing else is, and it is said', async () => {
    using dir = tempDir();
    const disk = fullDisk('store.write');
    using opened = await openStore(dir.at('keepwell.db'), disk);
    const { store } = opened;
    store.commit({ crash: crashOf('api', 1), events: [eventOf('api', 'kept')] });
    for (let n = 0; n < 11; n += 1) {
      store.commit({ probed: upTo(1_000).map((i) => stretchOf('api', n * 1_000 + i)) });
    }
    expect(store.health()).toMatch(/kept in memory since .*; probe answers dropped$/);
    const left = beginnings(store.probes(ofApi));
    expect(left.at(0)).toBe(11_000);
    expect(left).toEqual(upTo(11_000).slice(-left.length).toReversed());
    expect(left.length).toBeGreaterThan(8_000);
    expect(left.length).toBeLessThan(10_000);
    disk.isFull = false;
    await waitFor('everything to be written', () => store.health() === 'ok');
    expect(opened.told).toMatchObject([{ type: 'store.probes-dropped', data: {} }]);
    expect(store.probes(ofApi)).toHaveLength(left.length);
    expect(store.crashes({})).toHaveLength(1);
    expect(store.events({ afterSeq: 0, limit: 10 })).toMatchObject([
      { type: 'kept' },
      { type: 'store.probes-dropped' },
    ]);
  });

  test('when there are too many events, stretches go before the first event does', async () => {
    using dir = tempDir();
    const disk = fullDisk('store.write');
    using opened = await openStore(dir.at('keepwell.db'), disk);
    const { store } = opened;
    const noise = (count: number) => Array.from({ length: count }, () => eventOf('api', 'noise'));
    store.commit({ probed: upTo(500).map((n) => stretchOf('api', n)) });
    store.commit({ events: noise(9_500) });
    expect(store.probes(ofApi)).toHaveLength(500);
    store.commit({ events: noise(500) });
    expect(store.probes(ofApi)).toEqual([]);
    expect(store.events({ afterSeq: 0, limit: 20_000 })).toHaveLength(10_000);
    store.commit({ probed: [stretchOf('api')], runBegun: begunOf('api') });
    expect(store.health()).toMatch(
      /^cannot write \(disk full\), 3 records kept in memory since \d\d:\d\d:\d\d; probe answers dropped$/,
    );
    store.commit({ events: noise(1) });
    expect(store.health()).toMatch(/; 9500 events dropped; probe answers dropped$/);
  });

  test('the evidence of the oldest crashes goes with their log tails', async () => {
    using dir = tempDir();
    using opened = await openStore(dir.at('keepwell.db'), fullDisk('store.write'));
    for (const n of upTo(501)) opened.store.commit({ crash: crashOf('api', n, { probes: [stretchOf('api', n)] }) });
    expect(opened.store.why({ id: 1 })?.probes).toEqual([]);
    expect(opened.store.why({ id: 2 })?.probes).toHaveLength(1);
  });

  test('more stretches at once than are ever kept are written, when the disk takes them', async () => {
    using dir = tempDir();
    using opened = await openStore(dir.at('keepwell.db'));
    opened.store.commit({ probed: upTo(10_500).map((n) => stretchOf('api', n)) });
    expect(opened.store.probes(ofApi)).toHaveLength(10_500);
    expect(opened.store.health()).toBe('ok');
  });
});

test('probe stretches do not push out the history that a new database is told', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  opened.add(1);
  opened.store.commit({ crash: crashOf('api', 1, { probes: [stretchOf('api')] }), probed: [stretchOf('api')] });
  for (const count of upTo(300)) opened.store.commit({ probed: [stretchOf('api', 1, { count })] });
  for (const suffix of ['', '-wal', '-shm']) rmSync(dir.at(`keepwell.db${suffix}`));
  vi.advanceTimersByTime(60_000);
  expect(opened.told).toMatchObject([{ type: 'store.replaced' }]);
  expect(opened.shown()).toEqual([1]);
  expect(opened.store.why({ id: 1 })?.probes).toHaveLength(1);
  opened.store.commit({ probed: [stretchOf('api', 1, { count: 301 })] });
  expect(opened.store.probes(ofApi)).toEqual([stretchOf('api', 1, { count: 301 })]);
});
