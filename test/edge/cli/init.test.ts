import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLine } from '../../../src/config/starter/command-line.ts';
import { CliWorld } from './cli-world.ts';

/** An empty folder, but for these files. */
function withFiles(files: Readonly<Record<string, string>>): CliWorld {
  const world = new CliWorld();
  rmSync(world.dir.at('keepwell.yaml'));
  rmSync(world.home, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(world.dir.at(name), text);
  return world;
}

test('init writes a file that validate accepts, and says what it was made of', async () => {
  await using world = withFiles({ Procfile: 'web: sleep 1000\n', 'package.json': '{"scripts":{"start":"x"}}' });
  const { code, out, err } = await world.run('init');
  expect([code, err]).toEqual([0, '']);
  expect(out.split('\n')).toEqual([
    'Procfile: used for web',
    'package.json: not used, because Procfile says what to run.',
    'wrote keepwell.yaml: 1 component (web)',
    'next: look at it, then "keepwell up"',
    '',
  ]);
  expect((await world.run('validate')).code).toBe(0);
});

test('init never overwrites, unless told to', async () => {
  await using world = withFiles({ 'keepwell.yaml': 'mine' });
  const refused = await world.run('init');
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('--force');
  expect(JSON.parse((await world.run('init', '-o', 'json')).err).error.code).toBe('CONFIG_EXISTS');
  expect(readFileSync(world.dir.at('keepwell.yaml'), 'utf8')).toBe('mine');
  const forced = await world.run('init', '--force');
  expect(forced.out).toContain('replaced keepwell.yaml: 1 component (example)');
  expect((await world.run('validate')).code).toBe(0);
});

test.each(['keepwell.yml', 'keepwell.json'])(
  'a %s is in the way too, and not replaced by another file',
  async (name) => {
    await using world = withFiles({ [name]: 'mine' });
    for (const args of [['init'], ['init', '--force']]) {
      const { code, err } = await world.run(...args);
      expect(code).toBe(2);
      expect(err).toContain(`${name} is there already`);
    }
    expect(existsSync(world.dir.at('keepwell.yaml'))).toBe(false);
  },
);

test('--stdout prints the file and nothing else there, also when one exists', async () => {
  await using world = withFiles({ 'keepwell.yaml': 'mine', Procfile: 'web: sleep 1\n' });
  const { code, out, err } = await world.run('init', '--stdout');
  expect(code).toBe(0);
  expect(out).toMatch(/^# What Keepwell keeps running here\. Written by "keepwell init" from Procfile\.\n/);
  expect(err).toBe('Procfile: used for web\n');
  expect(readFileSync(world.dir.at('keepwell.yaml'), 'utf8')).toBe('mine');
});

test('-o json says what was found and written', async () => {
  await using world = withFiles({ 'docker-compose.yml': 'services: { db: { image: postgres } }' });
  const { out, err } = await world.run('init', '-o', 'json');
  const { text, ...rest } = JSON.parse(out);
  expect(err).toBe('');
  expect(rest).toEqual({
    schema_version: 1,
    file: world.dir.at('keepwell.yaml'),
    outcome: 'written',
    components: ['db'],
    found: [{ file: 'docker-compose.yml', used: true, what: 'used for db' }],
  });
  expect(readFileSync(world.dir.at('keepwell.yaml'), 'utf8')).toBe(text);
});

test('-f names another file, and its folder is looked at', async () => {
  await using world = withFiles({});
  mkdirSync(world.dir.at('sub'));
  writeFileSync(world.dir.at('sub/Procfile'), 'web: sleep 1000');
  expect((await world.run('init', '-f', 'sub/other.yaml')).out).toContain('wrote sub/other.yaml: 1 component (web)');
  expect((await world.run('validate', '-f', 'sub/other.yaml')).code).toBe(0);
  for (const [args, reason] of [
    [['-f', 'a.yaml', '-f', 'b.yaml'], 'one -f FILE'],
    [['-f', 'a.json'], 'YAML'],
    [['-f', 'none/a.yaml'], 'There is no folder'],
  ] as const) {
    const { code, err } = await world.run('init', ...args);
    expect(code).toBe(2);
    expect(err).toContain(reason);
  }
});

test('a project further up is mentioned, a folder that cannot be written to is an error', async () => {
  await using world = withFiles({ 'keepwell.yaml': '' });
  mkdirSync(world.dir.at('sub'));
  expect((await world.run('init', '-f', 'sub/keepwell.yaml')).err).toContain(
    `${world.dir.at('keepwell.yaml')} is another`,
  );
  mkdirSync(world.dir.at('taken.yaml'));
  const refused = await world.run('init', '-f', 'taken.yaml', '--force');
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('cannot be written');
});

test('pipes and folders instead of files hold nobody up', async () => {
  await using world = withFiles({});
  execFileSync('mkfifo', [world.dir.at('Procfile')]);
  mkdirSync(world.dir.at('package.json'));
  const { code, out } = await world.run('init', '--stdout');
  expect(code).toBe(0);
  expect(out).toContain('# Procfile: It cannot be read as text.');
});

test('lists mean to a program what the line means to a real shell', () => {
  const line = fc.string({ unit: fc.constantFrom(...'ab1 \t\'"\\$#=*~{},;-é'), maxLength: 14 });
  const seen = new Set<string>();
  fc.assert(
    fc.property(line, (text) => {
      const read = readLine(`true ${text}`);
      if (read === null || !('argv' in read.command)) return;
      seen.add(text);
      const [, ...words] = read.command.argv;
      const script = `set -- ${text}\nfor word; do printf '%s\\0' "$word"; done`;
      const said = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' });
      expect(words.map((word) => `${word}\0`).join('')).toBe(said);
    }),
    { numRuns: 400 },
  );
  expect(seen.size).toBeGreaterThan(20);
});
