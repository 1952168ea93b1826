import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { crashOf, eventOf, NOON, recordOf, runningOf } from '../../support/history-samples.ts';
import { sessionRecord } from '../../support/session-record.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { column, upTo } from './inspect.ts';
import { added, fullDisk, openStore } from './open-store.ts';

afterEach(() => void vi.useRealTimers());

test('what one daemon has written the next one reads, and numbers go on where they ended', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const first = await openStore(path);
  first.store.commit({ record: runningOf('api', 42), crash: crashOf('api'), events: [eventOf('api', 'a')] });
  first.store.setMeta('key', 'value');
  first.store.close();
  using second = await openStore(path);
  expect(second.store.components()).toEqual([runningOf('api', 42)]);
  expect(second.store.meta('key')).toBe('value');
  expect(second.store.crashes({})).toHaveLength(1);
  expect(second.store.commit({ events: [eventOf('api', 'b')] })[0]?.seq).toBe(2);
});

test('a component that runs without a pid of its own is known to the next daemon', async () => {
  using dir = tempDir();
  const first = await openStore(dir.at('keepwell.db'));
  first.store.commit({ record: runningOf('cache', null) });
  first.store.close();
  using second = await openStore(dir.at('keepwell.db'));
  expect(second.store.components()).toEqual([runningOf('cache', null)]);
});

test('the database belongs to its owner alone, with all its files', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  opened.add(1);
  for (const file of ['keepwell.db', 'keepwell.db-wal', 'keepwell.db-shm']) {
    expect(statSync(dir.at(file)).mode & 0o777).toBe(0o600);
  }
});

test('the history can be read by others while a daemon writes it', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  opened.add(1);
  const history = await openHistory(dir.at('keepwell.db'));
  opened.add(2);
  expect(added(history)).toEqual([1, 2]);
  expect(history.components()).toEqual([recordOf('api', { specHash: '2' })]);
  history.close();
});

test.each([
  ['is not there', () => {}],
  ['is empty', (path: string) => writeFileSync(path, '')],
])('a history that %s is refused with a sentence', async (_, prepare) => {
  using dir = tempDir();
  prepare(dir.at('keepwell.db'));
  await expect(openHistory(dir.at('keepwell.db'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: 'The history cannot be read: nothing has been recorded yet',
  });
});

test('a full disk: commits are kept, shown and written in order later, and only then called safe', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.write');
  disk.isFull = false;
  using opened = await openStore(dir.at('keepwell.db'), disk);
  opened.add(1);
  disk.isFull = true;
  for (const n of [2, 3, 4]) opened.add(n);
  expect(opened.store.health()).toMatch(/^cannot write \(disk full\), 3 records kept in memory since \d\d:\d\d:\d\d$/);
  expect(opened.durable).toEqual([1]);
  expect(opened.shown()).toEqual([1, 2, 3, 4]);
  expect(opened.store.lastSeq()).toBe(4);
  disk.isFull = false;
  await waitFor('the kept commits to be written by the timer', () => opened.durable.length === 4);
  expect(opened.durable).toEqual([1, 2, 3, 4]);
  expect(opened.store.health()).toBe('ok');
  expect(await column(dir.at('keepwell.db'), 'SELECT seq FROM events ORDER BY rowid')).toEqual(upTo(4));
});

test('the next commit brings the kept ones with it, before the timer does', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.write');
  using opened = await openStore(dir.at('keepwell.db'), disk);
  opened.add(1);
  disk.isFull = false;
  opened.add(2);
  expect(opened.durable).toEqual([1, 2]);
});

test('when the database cannot even be opened, everything is kept until it can', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.open');
  using opened = await openStore(dir.at('keepwell.db'), disk);
  opened.add(1);
  opened.store.commit({ crash: crashOf('api') });
  expect(opened.store.health()).toMatch(/^cannot open \(disk full\), 2 records kept in memory since/);
  expect(opened.store.crashes({})).toHaveLength(1);
  disk.isFull = false;
  await waitFor('the database to be opened', () => opened.durable.length === 1);
  expect(opened.store.health()).toBe('ok');
  expect(opened.store.crashes({})).toHaveLength(1);
});

test('numbers never go back, also when the old ones could not be read', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const first = await openStore(path);
  for (let n = 1; n <= 5; n += 1) first.add(n);
  first.store.close();
  rmSync(dir.at('keepwell.db-wal'), { force: true });
  const disk = fullDisk('store.open');
  const second = await openStore(path, disk);
  expect(second.shown()).toEqual([1, 2, 3, 4, 5]); // it can be read as it is, only not written
  expect(second.store.components()).toEqual([recordOf('api', { specHash: '5' })]);
  second.add(6);
  expect(second.store.lastSeq()).toBe(6);
  disk.isFull = false;
  second.store.close();
  expect(second.durable).toEqual([6]);
  expect(await column(path, 'SELECT seq FROM events ORDER BY seq')).toEqual(upTo(6));
});

test('numbers handed out by a daemon that died on a full disk are not handed out again', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const disk = fullDisk('store.write');
  disk.isFull = false;
  const first = await openStore(path, disk);
  first.add(1);
  disk.isFull = true;
  for (const n of [2, 3]) first.add(n);
  // As good as killed: closing cannot write either.
  first.store.close();
  expect(first.store.lastSeq()).toBe(3);
  const second = await openStore(path);
  expect(second.told).toMatchObject([{ type: 'store.events-lost', data: { after: 1 } }]);
  expect(second.told[0]?.seq).toBeGreaterThan(3);
  second.add(4);
  second.store.close();
  expect(readdirSync(dir.path).filter((file) => file.includes('.seq'))).toEqual([]);
  using third = await openStore(path);
  expect(third.told).toEqual([]);
  expect(third.store.lastSeq()).toBe(second.store.lastSeq());
});

test('a long trouble drops the oldest events, says how many, and drops nothing else', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.write');
  using opened = await openStore(dir.at('keepwell.db'), disk);
  for (let n = 1; n <= 600; n += 1) opened.store.commit({ crash: crashOf('api', n), record: recordOf(`c${n % 7}`) });
  for (let n = 0; n < 101; n += 1) {
    opened.store.commit({ events: Array.from({ length: 100 }, () => eventOf('api', 'noise')) });
  }
  expect(opened.store.health()).toMatch(/kept in memory since .*; 1100 events dropped$/);
  disk.isFull = false;
  await waitFor('everything to be written', () => opened.store.health() === 'ok');
  expect(opened.store.crashes({ limit: 1_000 })).toHaveLength(600);
  expect(opened.store.why({ id: 600 })?.log_tail).toEqual(['first line', 'last line']);
  expect(opened.store.why({ id: 1 })?.log_tail).toEqual([expect.stringContaining('log tail dropped')]);
  expect(opened.store.components()).toHaveLength(7);
  expect(opened.told).toMatchObject([{ type: 'store.events-dropped', data: { events: 1_100 } }]);
  expect(opened.store.events({ afterSeq: 0, limit: 20_000 })).toHaveLength(9_001);
});

test('one record that can never be stored goes to the log and does not hold up the others', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.write');
  using opened = await openStore(dir.at('keepwell.db'), disk);
  opened.add(1);
  opened.store.commit({ runPid: { run: 'api~x' as never, pid: { not: 'a number' } as never } });
  opened.add(2);
  disk.isFull = false;
  opened.add(3);
  expect(opened.durable).toEqual([1, 2, 3]);
  expect(opened.logged).toContain('a record could not be stored');
  expect(opened.store.health()).toBe('1 record could not be stored, see daemon.log');
});

test('a database file that is removed under the daemon is noticed and made anew from what is known', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  opened.store.setMeta('key', 'value');
  opened.add(1);
  for (const suffix of ['', '-wal', '-shm']) rmSync(dir.at(`keepwell.db${suffix}`));
  vi.advanceTimersByTime(60_000);
  expect(opened.told).toMatchObject([{ type: 'store.replaced', seq: 2 }]);
  opened.add(2);
  expect(await column(dir.at('keepwell.db'), 'SELECT spec_hash FROM components')).toEqual(['2']);
  expect(await column(dir.at('keepwell.db'), "SELECT value FROM meta WHERE key = 'key'")).toEqual(['value']);
  expect(await column(dir.at('keepwell.db'), 'SELECT seq FROM events ORDER BY seq')).toEqual(upTo(3));
  expect(opened.store.health()).toMatch(/^begun anew at .*: the database file was removed or replaced$/);
});

test('what ended while the database could not be opened stays ended, also in a new database', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const first = await openStore(path);
  first.store.commit({ session: sessionRecord({ id: 's1' }) }, { session: sessionRecord({ id: 's2' }) });
  first.store.close();
  const disk = fullDisk('store.open');
  using opened = await openStore(path, disk);
  const ended = sessionRecord({ id: 's1', state: 'ended', end: { reason: 'stopped', why: '', at: NOON } });
  opened.store.commit({ session: ended });
  disk.isFull = false;
  await waitFor('the database to be opened', () => opened.store.health() === 'ok');
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`);
  vi.advanceTimersByTime(60_000);
  expect(opened.told).toMatchObject([{ type: 'store.replaced' }]);
  expect(opened.store.sessions({ which: 'open', limit: 0 }).map(({ id }) => id)).toEqual(['s2']);
  expect(opened.store.session('s1')).toEqual(ended);
});

test('a WAL that has grown is emptied when there is time', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  opened.store.commit({ crash: crashOf('api', 1, { logTail: ['x'.repeat(6_000_000)] }) });
  expect(statSync(dir.at('keepwell.db-wal')).size).toBeGreaterThan(4 * 1024 * 1024);
  vi.advanceTimersByTime(60_000);
  expect(statSync(dir.at('keepwell.db-wal')).size).toBe(0);
});
