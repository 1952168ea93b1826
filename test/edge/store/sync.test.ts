/** What need not be on the disk at once: it is written, brought there soon, and only then called safe. */
import { copyFileSync, statSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Failpoint, Failpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { Store } from '../../../src/history/ports.ts';
import { openSqliteStore } from '../../../src/history/sqlite/sqlite-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { eventOf, recordOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { added, openStore } from './open-store.ts';

/** Notes what is reached, and fails at some of it for as long as the test says. */
function watched(): Failpoints & { readonly reached: Failpoint[]; failing: Failpoint | null } {
  return {
    reached: [],
    failing: null,
    hit(point) {
      this.reached.push(point);
      if (point === this.failing) throw Object.assign(new Error('the disk is broken'), { code: 'EIO' });
    },
  };
}

const add = (store: Store, n: number, durable: number[], syncLater = true) =>
  store.commit({
    events: [eventOf('api', 'added', { data: { n } })],
    syncLater,
    onDurable: () => void durable.push(n),
  });

test('several that may wait are synced together, and only then called safe', async () => {
  using dir = tempDir();
  const points = watched();
  using opened = await openStore(dir.at('keepwell.db'), points);
  const durable: number[] = [];
  for (const n of [1, 2, 3]) add(opened.store, n, durable);
  expect([durable, opened.shown()]).toEqual([[], [1, 2, 3]]);
  await waitFor('them to be safe', () => durable.length === 3);
  expect(durable).toEqual([1, 2, 3]);
  expect(points.reached.filter((point) => point === 'store.sync')).toHaveLength(1);
});

test('one that may not wait takes those along that came before it', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  const durable: number[] = [];
  add(opened.store, 1, durable);
  add(opened.store, 2, durable, false);
  expect(durable).toEqual([1, 2]);
});

test('whoever waits behind them without writing anything is called after them', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  const durable: number[] = [];
  add(opened.store, 1, durable);
  opened.store.commit({ onDurable: () => void durable.push(2) });
  expect(durable).toEqual([]);
  await waitFor('both to be called', () => durable.length === 2);
  expect(durable).toEqual([1, 2]);
});

test('a sync that fails is made up for by copying all of it into the database', async () => {
  using dir = tempDir();
  const points = watched();
  using opened = await openStore(dir.at('keepwell.db'), points);
  const durable: number[] = [];
  points.failing = 'store.sync';
  add(opened.store, 1, durable);
  await waitFor('it to be safe', () => durable.length === 1);
  expect(statSync(dir.at('keepwell.db-wal')).size).toBe(0);
  expect(opened.store.health()).toBe('ok');
});

test('a power cut takes the newest of what was to be synced later, and nothing else', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  const wal = () => statSync(dir.at('keepwell.db-wal')).size;
  opened.add(1);
  const synced = wal();
  for (const n of [2, 3, 4]) add(opened.store, n, []);
  for (let size = wal(); size >= synced; size -= 1_000) {
    const copy = dir.at(`cut-${size}.db`);
    copyFileSync(dir.at('keepwell.db'), copy);
    copyFileSync(dir.at('keepwell.db-wal'), `${copy}-wal`);
    truncateSync(`${copy}-wal`, size);
    using after = await openStore(copy);
    const left = added(after.store);
    expect(left).toEqual([1, 2, 3, 4].slice(0, left.length));
    expect(left).not.toEqual([]);
    expect(after.store.health()).toBe('ok');
  }
});

test('numbers that may have been told before a power cut are not given again', async () => {
  using dir = tempDir();
  const open = (bootId: string) =>
    openSqliteStore({
      path: dir.at('keepwell.db'),
      log: silentLog,
      failpoints: watched(),
      clock: Object.assign(new FakeClock(), { bootId }) as never,
    });
  const number = async (bootId: string): Promise<number | undefined> => {
    const store = await open(bootId);
    const [event] = store.commit({ record: recordOf('api'), events: [eventOf('api', 'added')] });
    store.close();
    return event?.seq;
  };
  expect([await number('a'), await number('a'), await number('b'), await number('b')]).toEqual([1, 2, 1_003, 1_004]);
});
