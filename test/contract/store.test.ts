import { expect, test } from 'vitest';
import { noFailpoints } from '../../src/base/failpoints.ts';
import { silentLog } from '../../src/base/log.ts';
import { openMemoryStore } from '../../src/history/memory.ts';
import { openSqliteStore } from '../../src/history/sqlite/sqlite-store.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { checkedOf, crashOf, endedOf, eventOf, sampledOf, stretchOf, wall } from '../support/history-samples.ts';
import { tempDir } from '../support/temp-dir.ts';
import { storeContract } from './store.contract.ts';

storeContract('the memory store', () =>
  Promise.resolve({ store: openMemoryStore({ clock: new FakeClock() }), dispose: () => {} }),
);

storeContract('the SQLite store', async () => {
  const dir = tempDir();
  const options = { path: dir.at('keepwell.db'), log: silentLog, failpoints: noFailpoints, clock: new FakeClock() };
  return { store: await openSqliteStore(options), dispose: () => dir[Symbol.dispose]() };
});

/** Nothing can be written here: everything is answered out of what is kept. */
storeContract(
  'the SQLite store on a full disk',
  async () => {
    const dir = tempDir();
    const hit = (name: string) => {
      if (name === 'store.write') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    };
    const options = { path: dir.at('keepwell.db'), log: silentLog, failpoints: { hit }, clock: new FakeClock() };
    return { store: await openSqliteStore(options), dispose: () => dir[Symbol.dispose]() };
  },
  { durable: false },
);

test('the memory store keeps the newest of everything and no more than its bounds', () => {
  const store = openMemoryStore({
    clock: new FakeClock(),
    bounds: {
      events: 3,
      crashes: 2,
      runs: 2,
      probe_results: 2,
      samples: 2,
      check_results: 2,
      sessions: 2,
      incidents: 2,
      tickets: 2,
    },
  });
  for (let n = 1; n <= 5; n += 1) {
    store.commit({ crash: crashOf('api', n), runEnded: endedOf('api', n), events: [eventOf('api', `e${n}`)] });
    store.commit({ sampled: [sampledOf('api', n)], checked: [checkedOf('sandbox', n)] });
    // The first one goes on for ever: it is the oldest by its beginning, not by its last answer.
    store.commit({
      probed: [stretchOf('api', n), stretchOf('api', 1, { lastAt: wall(n * 5_000) }), stretchOf('db', n)],
    });
  }
  expect(store.events({ afterSeq: 0, limit: 10 }).map(({ seq }) => seq)).toEqual([3, 4, 5]);
  expect(store.crashes({}).map(({ id }) => id)).toEqual([5, 4]);
  expect(store.runs({ limit: 10 })).toHaveLength(2);
  expect(store.probes({ component: 'api', limit: 10 }).map(({ firstAt }) => firstAt)).toEqual([
    wall(5_000),
    wall(1_000),
  ]);
  expect(store.probes({ component: 'db', limit: 10 })).toHaveLength(2);
  expect(store.samples({ component: 'api', limit: 10 }).map(({ firstAt }) => firstAt)).toEqual([
    wall(5_000),
    wall(4_000),
  ]);
  expect(store.checkResults({ check: 'sandbox', limit: 10 })).toEqual([
    checkedOf('sandbox', 5),
    checkedOf('sandbox', 4),
  ]);
  expect(store.lastSeq()).toBe(5);
});
