/** Small files of the state directory: half written, left behind, and made for others by accident. */
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { Listener } from '../../../src/api/listener.ts';
import { homePaths } from '../../../src/base/home.ts';
import { clearDrafts, writeAtomically } from '../../../src/base/home-dir.ts';
import { silentLog } from '../../../src/base/log.ts';
import { isMissing } from '../../../src/base/regular-file.ts';
import { exitFile, readLastEnd } from '../../../src/daemon/guardian.ts';
import { openDesired } from '../../../src/supervision/desired-file.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** The kernel gives no pid above 2^22. */
const NOBODY = 2 ** 22 + 1;

test('an exit code that is just being written is not taken for the end of the daemon', () => {
  using dir = tempDir();
  const paths = homePaths(dir.path);
  expect(readLastEnd(paths)).toBeNull();
  for (const [text, code] of [
    ['', null],
    ['1', null],
    ['1\n', 1],
    ['0\n', 0],
    ['137\n', 137],
    ['137 4711 52', null],
    ['137 4711 5234\n', 137],
  ] as const) {
    writeFileSync(exitFile(paths), text);
    expect(readLastEnd(paths)?.code ?? null).toBe(code);
  }
});

test('drafts of processes that were killed are cleared away, those of the living are not', () => {
  using dir = tempDir();
  for (const name of [`desired.json.${NOBODY}.tmp`, `owner.${NOBODY}.tmp`, `x.json.${process.pid}.tmp`, 'a.tmp'])
    writeFileSync(dir.at(name), '');
  clearDrafts(dir.path);
  expect(existsSync(dir.at(`desired.json.${NOBODY}.tmp`))).toBe(false);
  expect(existsSync(dir.at(`owner.${NOBODY}.tmp`))).toBe(false);
  expect(existsSync(dir.at(`x.json.${process.pid}.tmp`))).toBe(true);
  expect(existsSync(dir.at('a.tmp'))).toBe(true);
});

test('only what the kernel says is missing is missing: what cannot be looked at is there', () => {
  using dir = tempDir();
  writeFileSync(dir.at('file'), '');
  symlinkSync('loop', dir.at('loop'));
  expect(isMissing(dir.at('nothing'))).toBe(true);
  expect(isMissing(dir.at('file/below'))).toBe(true);
  expect(isMissing(dir.at('file'))).toBe(false);
  // Any other error: here a loop of links, and a name that no file system has.
  expect(isMissing(dir.at('loop'))).toBe(false);
  expect(isMissing(dir.at('x'.repeat(300)))).toBe(false);
});

test('a write that fails leaves no draft', () => {
  using dir = tempDir();
  mkdirSync(dir.at('taken'));
  expect(() => writeAtomically(dir.at('taken'), 'x')).toThrow();
  expect(existsSync(dir.at(`taken.${process.pid}.tmp`))).toBe(false);
});

test('what is made while the socket is being opened has its usual mode', async () => {
  using dir = tempDir();
  const listener = new Listener(dir.at('s.sock'), () => createServer());
  const before = process.umask();
  const opening = listener.open();
  expect(process.umask()).toBe(before);
  mkdirSync(dir.at('made'), { mode: 0o700 });
  await opening;
  expect(statSync(dir.at('made')).mode & 0o777).toBe(0o700);
  expect(statSync(dir.at('s.sock')).mode & 0o777).toBe(0o600);
  await listener.close();
});

test('a folder that another thread makes while the socket is being opened can be entered by its owner', async () => {
  using dir = tempDir();
  const modes = new Set<number>();
  for (let round = 0; round < 30; round += 1) {
    const paths = Array.from({ length: 64 }, (_, n) => dir.at(`${round}-${n}`));
    const listener = new Listener(dir.at('s.sock'), () => createServer());
    const making = paths.map((path) => mkdir(path, { mode: 0o700 }));
    await listener.open();
    await Promise.all(making);
    await listener.close();
    for (const path of paths) modes.add(statSync(path).mode & 0o777);
  }
  expect([...modes]).toEqual([0o700]);
});

test('what is wanted and can be kept nowhere is said to be forgotten; beside a history that is not written, the file knows better', () => {
  using dir = tempDir();
  const nowhere = openDesired({ desired: dir.at('gone/desired.json') }, silentLog);
  expect(nowhere.save({ a: 'stopped' }, false)).toContain('ENOENT');
  expect(nowhere.save({ a: 'stopped' }, true)).toBeNull(); // the history has it
  const paths = { desired: dir.at('desired.json') };
  expect(openDesired(paths, silentLog).save({ a: 'stopped' }, false)).toBeNull();
  const next = openDesired(paths, silentLog);
  expect([next.isNewer, next.kept.get('a'), next.kept.size]).toEqual([true, 'stopped', 1]);
  expect(next.save({ a: 'running' }, true)).toBeNull();
  expect(openDesired(paths, silentLog).isNewer).toBe(false);
});
