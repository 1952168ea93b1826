/** `store.path` moves the database, and nothing of it is lost on the way. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { homePaths } from '../../../src/base/home.ts';
import { silentLog } from '../../../src/base/log.ts';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { placeStore } from '../../../src/history/place.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** Opened and written to as a store does, without statements: with those the SQLite of older Nodes closes files late. */
async function open(path: string, word: string) {
  const db = (await loadSqlite()).open(path, 'read-write');
  db.exec(`PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS words (word); INSERT INTO words VALUES ('${word}')`);
  return db;
}

const write = async (path: string, word: string) => (await open(path, word)).close();

async function wordsIn(path: string): Promise<readonly unknown[]> {
  const db = (await loadSqlite()).open(path, 'read-only');
  const words = db.prepare('SELECT word FROM words').all();
  db.close();
  return words.map(({ word }) => word);
}

const place = async (home: string, wanted: string | null) => {
  using placed = await placeStore(homePaths(home), wanted, silentLog);
  return placed.path;
};

test('the database follows the setting there and back, and is found without the configuration', async () => {
  using dir = tempDir();
  const moved = dir.at('elsewhere/history.db');
  await write(await place(dir.path, null), 'first');
  expect(homePaths(dir.path).db).toBe(dir.at('keepwell.db'));
  await write(await place(dir.path, moved), 'second');
  expect([homePaths(dir.path).db, existsSync(dir.at('keepwell.db'))]).toEqual([moved, false]);
  await write(await place(dir.path, null), 'third');
  expect([homePaths(dir.path).db, existsSync(moved)]).toEqual([dir.at('keepwell.db'), false]);
  expect(await wordsIn(dir.at('keepwell.db'))).toEqual(['first', 'second', 'third']);
});

test('a directory that is made for it belongs to the user, and the database to nobody else', async () => {
  using dir = tempDir();
  const before = process.umask(0o022);
  try {
    const path = await place(dir.path, dir.at('data/deep/x.db'));
    await write(path, 'first');
    expect([dir.at('data'), dir.at('data/deep')].map((each) => statSync(each).mode & 0o777)).toEqual([0o755, 0o755]);
  } finally {
    process.umask(before);
  }
});

test('a database that another program has open stays where it is until the next start', async () => {
  using dir = tempDir();
  const other = await open(dir.at('keepwell.db'), 'first');
  expect(await place(dir.path, dir.at('new.db'))).toBe(dir.at('keepwell.db'));
  expect(homePaths(dir.path).db).toBe(dir.at('keepwell.db'));
  other.close();
  expect(await place(dir.path, dir.at('new.db'))).toBe(dir.at('new.db'));
});

test('one that is at the new place already is used, and the old one is not touched', async () => {
  using dir = tempDir();
  await write(dir.at('keepwell.db'), 'old');
  await write(dir.at('new.db'), 'new');
  expect(await place(dir.path, dir.at('new.db'))).toBe(dir.at('new.db'));
  expect(await wordsIn(dir.at('keepwell.db'))).toEqual(['old']);
});

test('two projects cannot share one database', async () => {
  using dir = tempDir();
  for (const name of ['a', 'b']) mkdirSync(dir.at(name));
  using first = await placeStore(homePaths(dir.at('a')), dir.at('shared.db'), silentLog);
  expect(first.path).toBe(dir.at('shared.db'));
  const second = placeStore(homePaths(dir.at('b')), dir.at('shared.db'), silentLog);
  await expect(second).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
});
