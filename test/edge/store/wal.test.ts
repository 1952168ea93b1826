/** A reader that stays keeps the WAL from being emptied; once it has gone the WAL is small again, whatever was written meanwhile. */
import { statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { MAX_WAL_BYTES } from '../../../src/history/sqlite/connection.ts';
import { crashOf, eventOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { column, integrity } from './inspect.ts';
import { type Opened, openStore } from './open-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const MIB = 1024 * 1024;
const LINE = 'x'.repeat(1_000_000);

/** A reader in the middle of a transaction: what it sees must stay readable for it. */
async function holdReader(path: string) {
  const db = (await loadSqlite()).open(path, 'read-only');
  db.exec('BEGIN');
  db.prepare('SELECT count(*) FROM events').get();
  return {
    count: () => Number(db.prepare('SELECT count(*) AS count FROM events').get()?.['count']),
    release: () => {
      db.exec('ROLLBACK');
      db.close();
    },
  };
}

/** Crashes with a megabyte of log tail each. */
function writeMegabytes({ store }: Opened, from: number, count: number): void {
  for (let n = from; n < from + count; n += 1)
    store.commit({ crash: crashOf('api', n, { logTail: [LINE] }), events: [eventOf('api', `${n}`)] });
}

test('under load the WAL outgrows its limit only while somebody reads, that is told, and it is emptied afterwards', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const walBytes = () => statSync(`${path}-wal`).size;
  using opened = await openStore(path);
  writeMegabytes(opened, 1, 1);
  const reader = await holdReader(path);
  for (let n = 2; n < 82; n += 20) {
    writeMegabytes(opened, n, 20);
    vi.advanceTimersByTime(MINUTE);
  }
  expect(reader.count()).toBe(1);
  expect(walBytes()).toBeGreaterThan(MAX_WAL_BYTES);
  expect(opened.store.health()).toMatch(/^keepwell\.db-wal has grown to \d+ MiB: another program keeps reading/);
  expect(opened.logged.filter((line) => line.includes('write-ahead log'))).toHaveLength(1);

  reader.release();
  vi.advanceTimersByTime(MINUTE);
  expect(walBytes()).toBe(0);
  expect(opened.store.health()).toBe('ok');
  for (let n = 100; n < 180; n += 20) {
    writeMegabytes(opened, n, 20);
    expect(walBytes()).toBeLessThan(MAX_WAL_BYTES);
  }
  vi.advanceTimersByTime(MINUTE);
  expect(walBytes()).toBeLessThanOrEqual(4 * MIB);
  expect(await column(path, 'SELECT count(*) FROM events')).toEqual([161]);
  expect(await integrity(path)).toBe('ok');
});

test('a WAL that a killed daemon left behind is emptied by the next one', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const left = await openStore(path); // never closed, like one that was killed
  const reader = await holdReader(path);
  writeMegabytes(left, 1, 20);
  reader.release();
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(4 * MIB);
  using next = await openStore(path);
  vi.advanceTimersByTime(MINUTE);
  expect(statSync(`${path}-wal`).size).toBe(0);
  expect(next.store.crashes({ limit: 100 })).toHaveLength(20);
  left.store.close();
});

test('writing goes on while the WAL cannot be emptied, as fast as before', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  using opened = await openStore(path);
  writeMegabytes(opened, 1, 6);
  const reader = await holdReader(path);
  writeMegabytes(opened, 10, 6);
  vi.advanceTimersByTime(MINUTE);
  opened.add(1);
  expect(opened.durable).toEqual([1]);
  reader.release();
});
