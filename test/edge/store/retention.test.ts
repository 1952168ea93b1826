import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import {
  COMPONENTS_PER_PASS,
  MAX_STRETCHES,
  ROWS_PER_PASS,
  retention,
} from '../../../src/history/sqlite/connection.ts';
import { migrate } from '../../../src/history/sqlite/migrations.ts';
import { stretchOf, wall } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { column, upTo } from './inspect.ts';
import { fullDisk, type Opened, openStore } from './open-store.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** One stretch a second from the first one on. */
const stretches = (component: string, count: number) => upTo(count).map((n) => stretchOf(component, n));
const countOf = ({ store }: Opened, component: string) => store.probes({ component, limit: 100_000 }).length;

test('of each component the newest stretches stay, and the others go once a minute', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  opened.store.commit({ probed: [...stretches('api', MAX_STRETCHES + 300), ...stretches('db', MAX_STRETCHES)] });
  expect(countOf(opened, 'api')).toBe(MAX_STRETCHES + 300);
  vi.advanceTimersByTime(60_000);
  const left = opened.store.probes({ component: 'api', limit: 100_000 });
  expect(left.map(({ firstAt }) => firstAt)).toEqual(
    upTo(MAX_STRETCHES).map((n) => wall((MAX_STRETCHES + 301 - n) * 1_000)),
  );
  expect(countOf(opened, 'db')).toBe(MAX_STRETCHES);
});

test('a stretch that still goes on stays, however long ago it began', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  const steady = stretchOf('api', 1, { role: 'liveness', lastAt: wall(1e9), count: 99_999 });
  const flapping = upTo(MAX_STRETCHES + 100).map((n) => stretchOf('api', n, { role: 'readiness' }));
  opened.store.commit({ probed: [steady, ...flapping] });
  vi.advanceTimersByTime(60_000);
  expect(countOf(opened, 'api')).toBe(MAX_STRETCHES);
  expect(opened.store.probes({ component: 'api', limit: 100_000 }).at(-1)).toEqual(steady);
});

test('much to delete is deleted in parts, a second apart, and a store that is closed deletes no more', async () => {
  using dir = tempDir();
  const opened = await openStore(dir.at('keepwell.db'));
  opened.store.commit({ probed: stretches('api', MAX_STRETCHES + 3 * ROWS_PER_PASS) });
  vi.advanceTimersByTime(60_000);
  expect(countOf(opened, 'api')).toBe(MAX_STRETCHES + 2 * ROWS_PER_PASS);
  vi.advanceTimersByTime(1_000);
  expect(countOf(opened, 'api')).toBe(MAX_STRETCHES + ROWS_PER_PASS);
  opened.store.close();
  expect(vi.getTimerCount()).toBe(0);
  using again = await openStore(dir.at('keepwell.db'));
  vi.advanceTimersByTime(62_000);
  expect(countOf(again, 'api')).toBe(MAX_STRETCHES);
  expect(vi.getTimerCount()).toBe(1); // the next minute's
});

test('one pass looks at some of the components and deletes some of the rows, and all get their turn', async () => {
  using dir = tempDir();
  const db = (await loadSqlite()).open(dir.at('keepwell.db'), 'read-write');
  migrate(db);
  const components = COMPONENTS_PER_PASS * 2 + 7;
  db.exec(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MAX_STRETCHES + 30}),
      c(c) AS (SELECT 1 UNION ALL SELECT c + 1 FROM c WHERE c < ${components})
    INSERT INTO probe_results SELECT 'c' || c, 'c' || c || '~', 'liveness', '', 'pass', '', n, n, 1, 1, 1 FROM n, c`);
  const rows = () => Number(db.prepare('SELECT count(*) AS count FROM probe_results').get()!['count']);
  const prune = retention(db);
  let passes = 1;
  for (let before = rows(); prune(); passes += 1) {
    expect(before - rows()).toBeLessThanOrEqual(ROWS_PER_PASS);
    before = rows();
  }
  expect(rows()).toBe(components * MAX_STRETCHES);
  expect(passes).toBeGreaterThanOrEqual(components / COMPONENTS_PER_PASS);
  expect(passes).toBeLessThan(10);
  db.close();
});

test('what cannot be deleted is deleted another time', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.write');
  disk.isFull = false;
  using opened = await openStore(dir.at('keepwell.db'), disk);
  opened.store.commit({ probed: stretches('api', MAX_STRETCHES + 1) });
  const other = (await loadSqlite()).open(dir.at('keepwell.db'), 'read-write');
  other.exec('BEGIN IMMEDIATE');
  vi.advanceTimersByTime(60_000);
  expect(countOf(opened, 'api')).toBe(MAX_STRETCHES + 1);
  expect(opened.store.health()).toBe('ok');
  other.exec('ROLLBACK');
  other.close();
  disk.isFull = true;
  opened.add(1);
  vi.advanceTimersByTime(60_000); // not while commits are waiting for the disk
  expect(countOf(opened, 'api')).toBe(MAX_STRETCHES + 1);
  disk.isFull = false;
  vi.advanceTimersByTime(120_000);
  expect(await column(dir.at('keepwell.db'), 'SELECT count(*) FROM probe_results')).toEqual([MAX_STRETCHES]);
});
