import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { runNode } from './program.ts';

const hasBuiltin = Number(process.versions.node.split('.')[0]) >= 22;

test.skipIf(hasBuiltin)('on Node 20 without the package, the error says what to install', async () => {
  using dir = tempDir();
  const writer = await bundle('test/fixtures/store/writer.ts');
  copyFileSync(writer.path, dir.at('writer.cjs'));
  writer.remove();
  using program = runNode(dir.at('writer.cjs'), dir.at('keepwell.db'), '1');
  const { code, stderr } = await program.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('has no built-in SQLite, and the package @photostructure/sqlite cannot be loaded');
  expect(stderr).toContain('SQLITE_MISSING');
});

test('databases that are opened and closed again and again do not use up the file descriptors', async () => {
  using dir = tempDir();
  const sqlite = await loadSqlite();
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  let most = 0;
  for (let n = 0; n < 500; n += 1) {
    const db = sqlite.open(dir.at('some.db'), 'read-write');
    db.prepare('PRAGMA user_version').get();
    db.close();
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, open() - before);
  }
  expect(most).toBeLessThan(150);
});

test.each(['get', 'all'] as const)('an error of %s() has the result code of SQLite', async (read) => {
  using dir = tempDir();
  const sqlite = await loadSqlite();
  const made = sqlite.open(dir.at('some.db'), 'read-write');
  made.exec('CREATE TABLE one (x); INSERT INTO one VALUES (zeroblob(100000))');
  made.close();
  // The schema is in the first page, the row in the second: only what follows it is damaged.
  writeFileSync(dir.at('some.db'), readFileSync(dir.at('some.db')).fill(0xff, 8192));
  const db = sqlite.open(dir.at('some.db'), 'read-write');
  const statement = db.prepare('SELECT x FROM one');
  expect(() => statement[read]()).toThrow(expect.objectContaining({ errcode: 11 }));
  db.close();
});

test('nothing is printed when SQLite is loaded, bundled or not', async () => {
  using dir = tempDir();
  const writer = await bundle('test/fixtures/store/writer.ts');
  using program = runNode(writer.path, dir.at('keepwell.db'), '3');
  const { code, stderr } = await program.ended;
  writer.remove();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(program.lines.at(-1)).toBe('closed ok');
});
