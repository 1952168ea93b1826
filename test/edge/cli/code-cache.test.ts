import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { openCodeCache } from '../../../src/base/code-cache.ts';
import { tempDir } from '../../support/temp-dir.ts';

const SOURCE = 'function add(a, b) { return a + b; } add(1, 2);';
const uid = process.geteuid!();
const open = (home: string, more: Readonly<Record<string, string>> = {}) =>
  openCodeCache({ env: { XDG_CACHE_HOME: home, ...more }, program: '/opt/keepwell', role: 'status', uid });

/** As a process does it that found nothing. Returns the file it left. */
function fill(home: string, source = SOURCE): string {
  const cache = open(home)!;
  const script = new Script(source);
  script.runInThisContext();
  cache.add('main.cjs', Buffer.from(source), script, false);
  cache.save();
  const [file] = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cache'));
  return join(home, file!);
}

const find = (home: string, source = SOURCE) => open(home)!.find('main.cjs', Buffer.from(source));

describe('what V8 made of a source', () => {
  test('is found again by the next process, which V8 accepts it from, and nobody else can read it', () => {
    using dir = tempDir();
    const file = fill(dir.path);
    const script = new Script(SOURCE, { cachedData: find(dir.path)! });
    expect(script.cachedDataRejected).toBe(false);
    expect(script.runInThisContext()).toBe(3);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file))).toEqual(['status.cache']);
  });

  test('is not used for another source that is as long', () => {
    using dir = tempDir();
    fill(dir.path);
    expect(find(dir.path, SOURCE.replace('a + b', 'a - b'))).toBeUndefined();
  });

  test('is kept beside what a later process adds', () => {
    using dir = tempDir();
    fill(dir.path);
    const cache = open(dir.path)!;
    const source = Buffer.from('7');
    cache.add('other.cjs', source, new Script('7'), false);
    cache.save();
    expect(find(dir.path)).toBeDefined();
    expect(open(dir.path)!.find('other.cjs', source)).toBeDefined();
  });

  test('is not used when a single byte of the file is another, or its end is missing', () => {
    using dir = tempDir();
    const file = fill(dir.path);
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = damaged[at]! ^ 0x10;
      writeFileSync(file, damaged);
      expect(find(dir.path), `byte ${at}`).toBeUndefined();
    }
    for (const length of [0, 1, 7, 8, whole.length - 1]) {
      writeFileSync(file, whole);
      truncateSync(file, length);
      expect(find(dir.path), `${length} bytes`).toBeUndefined();
    }
  });

  test.each<[string, (file: string, home: string) => void]>([
    ['a file that everybody can write', (file) => chmodSync(file, 0o606)],
    ['a file that a group can write', (file) => chmodSync(file, 0o660)],
    ['a folder that everybody can write', (file) => chmodSync(dirname(file), 0o777)],
    ['a folder further up that everybody can write', (_, home) => chmodSync(home, 0o777)],
    [
      'a link',
      (file) => {
        renameSync(file, `${file}.old`);
        symlinkSync(`${file}.old`, file);
      },
    ],
  ])('is not taken from %s', (_, change) => {
    using dir = tempDir();
    mkdirSync(dir.at('home'));
    change(fill(dir.at('home')), dir.at('home'));
    expect(find(dir.at('home'))).toBeUndefined();
  });

  test.skipIf(uid !== 0).each<[string, (file: string, home: string) => void]>([
    ['a file of another user', (file) => chownSync(file, 65_534, 65_534)],
    ['a folder of another user', (_, home) => chownSync(home, 65_534, 65_534)],
  ])('is not taken from %s', (_, change) => {
    using dir = tempDir();
    mkdirSync(dir.at('home'));
    const file = fill(dir.at('home'));
    change(file, dir.at('home'));
    expect(find(dir.at('home'))).toBeUndefined();
  });

  test('of an installation that was not used for a month is removed by the next one that writes', () => {
    using dir = tempDir();
    const own = fill(dir.path);
    const old = join(dirname(dirname(own)), 'v18.0.0-x64-1234abcd');
    mkdirSync(old);
    utimesSync(old, 1, 1);
    fill(dir.path, '8');
    expect(readdirSync(dirname(old))).toEqual([dirname(own).split('/').at(-1)]);
  });

  test('is not kept where nothing can be written, and that is no error', () => {
    const cache = open('/proc/keepwell')!;
    cache.add('main.cjs', Buffer.from(SOURCE), new Script(SOURCE), false);
    expect(() => cache.save()).not.toThrow();
  });
});

test.each([
  ['no home', {}],
  ['a relative home', { HOME: 'home', XDG_CACHE_HOME: 'cache' }],
  ['somebody who does not want it', { HOME: '/root', NODE_DISABLE_COMPILE_CACHE: '1' }],
  ['a measurement of coverage', { HOME: '/root', NODE_V8_COVERAGE: '/tmp' }],
])('there is no cache with %s', (_, env) => {
  expect(openCodeCache({ env, program: '/opt/keepwell', role: 'status', uid })).toBeNull();
});
