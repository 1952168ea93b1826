import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import { importFiles } from '../../../src/config/import/files.ts';
import { FORMATS, type ImportFormat } from '../../../src/config/import/import.ts';
import { loadConfigFromTexts } from '../../../src/config/load.ts';
import { MORE } from '../../../src/config/starter/starter.ts';
import { importConfig } from '../../../src/index.ts';
import { tempDir } from '../../support/temp-dir.ts';

const CORPUS = resolve('test/fixtures/import');
/** Not called .yaml: nobody may format it. */
const GOLDEN = 'golden.txt';

const CASES = FORMATS.flatMap((format) =>
  readdirSync(join(CORPUS, format)).map((name) => ({ format, name, dir: join(CORPUS, format, name) })),
);

/** The files that are named on the command line: all units, or the one that does not end like an included one. */
const filesOf = (format: ImportFormat, dir: string): readonly string[] => {
  const names = readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== GOLDEN && !entry.name.startsWith('.'))
    .map(({ name }) => name);
  return format === 'systemd' ? names.sort() : names.slice(0, 1);
};

const importIn = (format: ImportFormat, dir: string, more: Partial<Parameters<typeof importFiles>[0]> = {}) =>
  importFiles({ format, files: filesOf(format, dir), cwd: dir, target: dir, env: process.env, run: true, ...more });

test.each(FORMATS)('there are ten files of %s at least', (format) => {
  expect(CASES.filter((one) => one.format === format).length).toBeGreaterThanOrEqual(10);
});

test.each(CASES)(
  '$format, $name: becomes a configuration that the loader takes, and says what is lost',
  async ({ format, dir }) => {
    const { text, components, lost } = await importIn(format, dir);
    const env = { HOME: '/home/me', USER: 'me', APP_DIR: '/srv/app', SECONDS: '5' };
    const config = loadConfigFromTexts({ files: [{ path: join(dir, 'keepwell.yaml'), text }], dotenv: null, env });
    expect(config.components.map(({ name }) => name).sort()).toEqual([...components].sort());
    for (const { file, line } of lost) {
      const path = resolve(dir, file);
      expect(line, file).toBeGreaterThanOrEqual(1);
      if (existsSync(path)) expect(line, file).toBeLessThanOrEqual(readFileSync(path, 'utf8').split('\n').length);
    }
    const shown = text.replaceAll(dir, '/HERE').split(`\n# ${MORE[0]}`)[0]!;
    await expect(shown).toMatchFileSnapshot(join(dir, GOLDEN));
  },
);

describe('broken files', () => {
  const failure = async (format: ImportFormat, name: string, text: string | Buffer): Promise<AppError> => {
    using dir = tempDir();
    writeFileSync(dir.at(name), text);
    try {
      await importFiles({ format, files: [name], cwd: dir.path, target: dir.path, env: {}, run: false });
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      return error as AppError;
    }
    throw new Error(`${name} was imported`);
  };

  test.each<[ImportFormat, string, string, string]>([
    ['pm2', 'a.json', '{"apps": [{"name": "a", "script": "a.js"', 'a.json:1:'],
    ['pm2', 'a.json', '{\n "apps": [\n  {"name": }x\n ]\n}', 'a.json:3:'],
    ['pm2', 'a.json', '{"nothing": 1}', 'there are no "apps"'],
    ['pm2', 'a.json', '[]', 'there are no "apps"'],
    ['pm2', 'a.json', '', 'the file is empty'],
    ['supervisord', 's.conf', '[program:a]\ncommand=a\n[program:b\ncommand=b\n', 's.conf:3:1'],
    ['supervisord', 's.conf', 'command=a\n', 's.conf:1:1'],
    ['supervisord', 's.conf', '[program:a]\nnonsense\n', 's.conf:2:1'],
    ['systemd', 'a.service', '[Service]\nExecStart\n', 'a.service:2:1'],
    ['systemd', 'a.service', 'ExecStart=/bin/a\n', 'a.service:1:1'],
    ['process-compose', 'p.yaml', 'processes:\n  a:\n   command: [unclosed\n', 'p.yaml:'],
    ['process-compose', 'p.yaml', 'processes:\n\ta: 1\n', 'p.yaml:2:'],
    ['process-compose', 'p.yaml', 'services: {}\n', 'there are no "processes"'],
    ['compose', 'c.yaml', 'services:\n  a: "unclosed\n', 'c.yaml:'],
  ])('%s: %s with %j is refused, with its line', async (format, name, text, said) => {
    const { code, message } = await failure(format, name, text);
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(said);
  });

  test.each<[ImportFormat, string, string]>([
    ['supervisord', 's.conf', '[supervisord]\n'],
    ['systemd', 'a.timer', '[Timer]\nOnCalendar=daily\n'],
    ['procfile', 'Procfile', '# nothing\n'],
    ['compose', 'c.yaml', 'volumes: { a: {} }\n'],
    ['process-compose', 'p.yaml', 'processes: { a: { command: "" } }\n'],
    ['pm2', 'a.json', '{"apps": [{"name": "a", "script": "a\\u0000b"}]}'],
  ])('%s: %s with %j has nothing to import', async (format, name, text) => {
    expect((await failure(format, name, text)).code).toBe('NOTHING_TO_IMPORT');
  });

  test('what is no text, too large or no file is not read', async () => {
    expect((await failure('procfile', 'Procfile', Buffer.from([0xff, 0xfe, 0x00]))).message).toContain('not text');
    expect((await failure('procfile', 'Procfile', 'a: b\n'.repeat(300_000))).message).toContain('larger than 1 MB');
    using dir = tempDir();
    mkdirSync(dir.at('Procfile'));
    const options = { format: 'procfile' as const, files: [], cwd: dir.path, target: dir.path, env: {}, run: false };
    await expect(importFiles(options)).rejects.toMatchObject({ code: 'FILE_NOT_READ' });
    await expect(importFiles({ ...options, format: 'pm2' })).rejects.toMatchObject({ code: 'IMPORT_NOT_FOUND' });
  });

  test('any beginning of any file of the corpus is imported or refused with a reason', async () => {
    for (const { format, dir } of CASES) {
      if (format === 'pm2' && filesOf(format, dir)[0]!.endsWith('js')) continue; // a program
      const [name] = filesOf(format, dir);
      const text = readFileSync(join(dir, name!), 'utf8');
      for (let part = 1; part < 8; part += 1) {
        using here = tempDir();
        writeFileSync(here.at(name!), text.slice(0, Math.floor((text.length * part) / 8)));
        const options = { format, files: [name!], cwd: here.path, target: here.path, env: {}, run: false };
        const outcome = await importFiles(options).then(
          () => 'imported',
          (error: unknown) => (error instanceof AppError ? error.code : String(error)),
        );
        expect(['imported', 'CONFIG_INVALID', 'NOTHING_TO_IMPORT'], `${dir} ${part}`).toContain(outcome);
      }
    }
  });
});

describe('a JavaScript file of PM2', () => {
  const program = (text: string, name = 'ecosystem.config.cjs') => {
    const dir = tempDir();
    writeFileSync(dir.at(name), text);
    const options = { format: 'pm2' as const, files: [name], cwd: dir.path, target: dir.path, env: process.env };
    return { dir, options };
  };

  test('is run only when that was allowed, after saying so', async () => {
    const text = `require('fs').writeFileSync('ran', ''); module.exports = { apps: [{ name: 'a', script: 'a.js' }] };`;
    const { dir, options } = program(text);
    using _ = dir;
    await expect(importFiles({ ...options, run: false })).rejects.toMatchObject({ code: 'IMPORT_NEEDS_RUN' });
    expect(existsSync(dir.at('ran'))).toBe(false);
    const said: string[] = [];
    const { components } = await importFiles({ ...options, run: true, onRun: (file) => said.push(file) });
    expect({ components, said }).toEqual({ components: ['a'], said: ['ecosystem.config.cjs'] });
  });

  test.each([
    [`throw new TypeError('no such thing');`, 'TypeError: no such thing'],
    [`process.exit(3);`, 'it ended with 3'],
    [`module.exports = null;`, 'it exports nothing'],
  ])('that does not say what it contains is refused with what it said: %s', async (text, problem) => {
    const { dir, options } = program(text);
    using _ = dir;
    const failed = importFiles({ ...options, run: true });
    await expect(failed).rejects.toMatchObject({ code: 'IMPORT_RUN_FAILED', details: { problem } });
  });

  test('that never ends, and what it started, are ended', async () => {
    const { dir, options } = program(
      `const { spawn } = require('child_process');
const child = spawn('sleep', ['1000'], { stdio: 'inherit' });
require('fs').writeFileSync('pids', process.pid + ' ' + child.pid);
setInterval(() => {}, 1000);
module.exports = { apps: [] };
while (true);`,
    );
    using _ = dir;
    const failed = importFiles({ ...options, run: true });
    await expect(failed).rejects.toMatchObject({ details: { problem: 'it did not end within 10 s' } });
    for (const pid of readFileSync(dir.at('pids'), 'utf8').split(' '))
      expect(existsSync(`/proc/${pid}/exe`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toBeFalsy();
  });
});

test('a file in another folder keeps its paths, and the library does the same', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('sub'));
  cpSync(join(CORPUS, 'procfile/with-env'), dir.at('sub'), { recursive: true });
  const { yaml, components, lost } = await importConfig({ format: 'procfile', file: 'sub/Procfile', cwd: dir.path });
  expect(components).toEqual(['web', 'clock']);
  expect(lost).toEqual([]);
  expect(yaml).toContain('cwd: sub');
  expect(yaml).toContain('env_file: sub/.env');
});
