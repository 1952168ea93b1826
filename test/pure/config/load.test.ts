import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { envFileWarnings, loadConfig, loadConfigFromTexts, readEnvFiles } from '../../../src/config/load.ts';
import { processOf } from './support.ts';

const GOOD = 'components: { api: { process: { command: [server, "${A:-none}"] } } }';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keepwell-config-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
};
const load = (...files: readonly string[]) => loadConfig({ files, env: {}, cwd: dir });

describe('loading from disk', () => {
  test('reads the files, and .env beside the first', () => {
    mkdirSync(join(dir, 'sub'));
    const files = [write('keepwell.yaml', GOOD), write('sub/over.yaml', 'name: other')];
    write('.env', 'A=beside');
    write('sub/.env', 'A=wrong');
    const config = load(...files);
    expect(config).toMatchObject({ name: 'other', files, baseDir: dir, dotenv: 'A=beside' });
    expect(processOf(config.components[0]).command).toEqual(['server', 'beside']);
    expect(config.sources).toEqual([
      { path: files[0], text: GOOD },
      { path: files[1], text: 'name: other' },
    ]);
  });

  test('what was loaded can be made again from its texts alone', () => {
    const file = write('keepwell.yaml', GOOD);
    write('.env', 'A=kept');
    const config = load(file);
    rmSync(dir, { recursive: true });
    expect(loadConfigFromTexts({ files: config.sources, dotenv: config.dotenv, env: {} })).toEqual(config);
  });

  test('without .env there is none', () => {
    expect(load(write('keepwell.yaml', GOOD)).dotenv).toBeNull();
  });

  test('no file at all is a mistake of the caller', () => {
    expect(() => load()).toThrow('No configuration file was given.');
  });

  test.each([
    ['a missing file', () => join(dir, 'none.yaml'), 'none.yaml:1:1: there is no such file'],
    ['a directory', () => dir, ':1:1: it is a directory, not a file'],
    ['invalid UTF-8', () => write('k.yaml', Uint8Array.of(0x6e, 0xff, 0xfe)), 'k.yaml:1:1: it is not valid UTF-8 text'],
    [
      'UTF-16',
      () => write('k.yaml', Buffer.from('\ufeffname: x', 'utf16le')),
      'k.yaml:1:1: it is not valid UTF-8 text',
    ],
    ['more than 1 MB', () => write('k.yaml', `#${'é'.repeat(500_000)}`), 'k.yaml:1:1: the file is larger than 1 MB'],
    ['a device', () => '/dev/zero', '/dev/zero:1:1: it is not a regular file'],
    ['a link to itself', () => link('k.yaml'), 'k.yaml:1:1: it is a symbolic link to itself'],
    ['a pipe nobody writes to', () => pipe('k.yaml'), 'k.yaml:1:1: it is not a regular file'],
  ])('%s is refused clearly', (_, file, message) => {
    expect(() => load(file())).toThrow(message);
  });

  test.skipIf(process.getuid?.() === 0)('a file that may not be read is refused clearly', () => {
    const file = write('k.yaml', GOOD);
    chmodSync(file, 0);
    expect(() => load(file)).toThrow('k.yaml:1:1: it may not be read (permission denied)');
  });

  test('all unreadable files are told at once', () => {
    expect(() => load(join(dir, 'a.yaml'), join(dir, 'b.yaml'))).toThrow(/2 problems:\na\.yaml:1:1: .*\nb\.yaml:1:1: /);
  });

  test('a folder called .env belongs to Python and not to us', () => {
    mkdirSync(join(dir, '.env'));
    expect(load(write('keepwell.yaml', GOOD)).dotenv).toBeNull();
  });

  test('an .env that is not text is told', () => {
    write('.env', Uint8Array.of(0xff));
    expect(() => load(write('keepwell.yaml', GOOD))).toThrow('.env:1:1: it is not valid UTF-8 text');
  });
});

const link = (name: string): string => {
  symlinkSync(name, join(dir, name));
  return join(dir, name);
};
const pipe = (name: string): string => {
  execFileSync('mkfifo', [join(dir, name)]);
  return join(dir, name);
};

describe('env files of a component', () => {
  test('later files go over earlier ones', () => {
    const files = [write('a.env', 'A=1\nB=1\n'), write('b.env', 'B=2\n')];
    expect({ ...readEnvFiles(files) }).toEqual({ A: '1', B: '2' });
    expect({ ...readEnvFiles([]) }).toEqual({});
  });

  test('a missing one and a bad line are named', () => {
    expect(() => readEnvFiles([join(dir, 'none.env')])).toThrow(`env_file ${dir}/none.env: there is no such file`);
    const bad = write('bad.env', 'A=1\nB="x\n');
    expect(() => readEnvFiles([bad])).toThrow(`env_file ${bad}:2:3: the quote is not closed. Add the closing quote.`);
  });

  test('a missing one is a warning and not a mistake of the configuration', () => {
    write('there.env', 'A=1');
    const file = write(
      'keepwell.yaml',
      'components: { api: { process: { command: [x], env_file: [there.env, gone.env] } } }',
    );
    expect(envFileWarnings(load(file))).toEqual([
      { component: 'api', path: join(dir, 'gone.env'), problem: `env_file ${dir}/gone.env: there is no such file` },
    ]);
  });
});
