import { expect, test } from 'vitest';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { column, upTo } from './inspect.ts';
import { added, openStore } from './open-store.ts';
import { runNode } from './program.ts';

const HOLDER = 'test/fixtures/store/lock-holder.mjs';

test('another process holds the database: nothing is lost, nothing is numbered twice, and only the first commit waits', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  using opened = await openStore(path);
  opened.add(1);
  using holder = runNode(HOLDER, path);
  await holder.said('held');
  const [first = 0, ...others] = [2, 3, 4, 5].map((n) => {
    const before = performance.now();
    opened.add(n);
    return performance.now() - before;
  });
  expect(opened.durable).toEqual([1]);
  expect(opened.store.health()).toMatch(/^cannot write \(locked by another process\), 4 records kept in memory since/);
  expect(first).toBeGreaterThan(200);
  expect(Math.min(...others)).toBeLessThan(100);
  expect(opened.shown()).toEqual(upTo(5));
  const history = await openHistory(path);
  expect(added(history)).toEqual([1]);
  history.close();
  holder.child.stdin?.end();
  await waitFor('the kept commits to be written', () => opened.durable.length === 5);
  opened.add(6);
  expect(opened.durable).toEqual(upTo(6));
  expect(opened.store.health()).toBe('ok');
  expect(await column(path, 'SELECT seq FROM events ORDER BY rowid')).toEqual(upTo(6));
});

test('a new database that another process holds is opened once it is free', async () => {
  using dir = tempDir();
  using holder = runNode(HOLDER, dir.at('keepwell.db'));
  await holder.said('held');
  using opened = await openStore(dir.at('keepwell.db'));
  opened.add(1);
  expect(opened.store.health()).toMatch(/^cannot open \(locked by another process\)/);
  holder.child.stdin?.end();
  await waitFor('the database to be opened and written', () => opened.durable.length === 1);
  expect(opened.shown()).toEqual([1]);
});
