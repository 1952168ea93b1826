import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { LATEST } from '../../../src/history/sqlite/migrations.ts';
import { crashOf, recordOf, stretchOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { restoreGolden } from './golden.ts';
import { column, integrity, upTo } from './inspect.ts';
import { canMount, smallDisk, twoDoors } from './mounts.ts';
import { added, openStore } from './open-store.ts';

const line = 'x'.repeat(2_000);

/** As a daemon of version 1 leaves it that was killed: an event, number 5, is in the WAL only. */
async function restoreKilled(path: string): Promise<void> {
  using dir = tempDir();
  await restoreGolden(1, dir.at('keepwell.db'));
  const db = (await loadSqlite()).open(dir.at('keepwell.db'), 'read-write');
  db.exec('PRAGMA journal_mode = WAL');
  db.exec("INSERT INTO events VALUES (5, 0, 'component', 'api', 'late', NULL, '{}')");
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(dir.at(`keepwell.db${suffix}`), `${path}${suffix}`);
  db.close();
}

describe.runIf(canMount)('a disk that is really full', () => {
  test('supervision goes on, and everything is on disk, in order, once there is space again', async () => {
    using disk = smallDisk(2_048);
    const path = disk.at('keepwell.db');
    using opened = await openStore(path);
    opened.add(1);
    disk.fill();
    for (let n = 2; n <= 300; n += 1) {
      opened.add(n);
      opened.store.commit({ crash: crashOf('api', n, { logTail: [line] }) }, { probed: [stretchOf('api', n)] });
    }
    expect(opened.store.health()).toMatch(/^cannot write \(disk full\), \d+ records kept in memory since/);
    expect(opened.durable).toEqual(upTo(opened.durable.length));
    expect(opened.durable.length).toBeLessThan(300);
    expect(opened.shown()).toEqual(upTo(300));
    expect(opened.store.crashes({ limit: 1_000 })).toHaveLength(299);
    expect(opened.store.probes({ component: 'api', limit: 1_000 })).toHaveLength(299);
    disk.free();
    await waitFor('everything to be written', () => opened.durable.length === 300);
    expect(opened.durable).toEqual(upTo(300));
    expect(opened.store.health()).toBe('ok');
    expect(await column(path, 'SELECT seq FROM events ORDER BY rowid')).toEqual(upTo(300));
    expect(await column(path, 'SELECT count(*) FROM crashes')).toEqual([299]);
    expect(await integrity(path)).toBe('ok');
  });

  test('a daemon that starts on a full disk still knows what was stopped by hand', async () => {
    using disk = smallDisk(1_024);
    const path = disk.at('keepwell.db');
    const earlier = await openStore(path);
    earlier.store.commit({ record: recordOf('db', { desired: 'stopped' }) });
    earlier.add(1);
    earlier.store.close();
    disk.fill();
    using opened = await openStore(path);
    expect(opened.store.components()).toMatchObject([{ name: 'api' }, { name: 'db', desired: 'stopped' }]);
    for (let n = 2; n <= 20; n += 1) opened.add(n);
    expect(opened.shown()).toEqual(upTo(20));
    disk.free();
    await waitFor('everything to be written', () => opened.store.health() === 'ok');
    expect(await column(path, 'SELECT seq FROM events ORDER BY rowid')).toEqual(upTo(20));
  });

  test.each([
    ['was closed properly', false],
    ['was left with a WAL', true],
  ])(
    'an older database that %s is read on a full disk, although it cannot be brought to our schema',
    async (_, hasWal) => {
      using disk = smallDisk(1_024);
      const path = disk.at('keepwell.db');
      await (hasWal ? restoreKilled(path) : restoreGolden(1, path));
      disk.fill();
      using opened = await openStore(path);
      opened.add(1);
      opened.store.commit({ probed: [stretchOf('api')] });
      expect(opened.store.health()).toMatch(/^cannot open \(disk full\), 2 records kept in memory/);
      expect(opened.store.components()).toMatchObject([{ name: 'api' }, { name: 'db', desired: 'stopped' }]);
      expect(opened.store.lastSeq()).toBe(hasWal ? 6 : 4);
      expect(opened.store.crashes({})).toHaveLength(1);
      expect(opened.store.probes({ component: 'api', limit: 10 })).toEqual([stretchOf('api')]);
      disk.free();
      await waitFor('everything to be written', () => opened.store.health() === 'ok');
      expect(await column(path, 'PRAGMA user_version')).toEqual([LATEST]);
      expect(opened.store.probes({ component: 'api', limit: 10 })).toEqual([stretchOf('api')]);
      expect(await integrity(path)).toBe('ok');
    },
  );

  test('a new project on a full disk is supervised from memory until there is space', async () => {
    using disk = smallDisk(1_024);
    disk.fill();
    using opened = await openStore(disk.at('keepwell.db'));
    opened.add(1);
    expect(opened.store.health()).toMatch(/^cannot open \(/);
    disk.free();
    await waitFor('the database to be made', () => opened.durable.length === 1);
    expect(opened.store.health()).toBe('ok');
  });
});

describe.runIf(canMount)('a file system that is read-only', () => {
  test('the history can be read, new records wait, and all is written once it is writable', async () => {
    using dir = twoDoors();
    const earlier = await openStore(join(dir.inside, 'keepwell.db'));
    for (const n of [1, 2]) earlier.add(n);
    earlier.store.close();
    dir.lock();
    using opened = await openStore(join(dir.door, 'keepwell.db'));
    opened.add(3);
    expect(opened.store.health()).toMatch(/^cannot (open|write) \(.*\), 1 record kept in memory/);
    expect(opened.shown()).toEqual([1, 2, 3]);
    const history = await openHistory(join(dir.door, 'keepwell.db'));
    expect(added(history)).toEqual([1, 2]);
    history.close();
    dir.unlock();
    await waitFor('the record to be written', () => opened.durable.length === 1);
    expect(opened.store.health()).toBe('ok');
    expect(await column(join(dir.inside, 'keepwell.db'), 'SELECT seq FROM events ORDER BY rowid')).toEqual(upTo(3));
  });
});
