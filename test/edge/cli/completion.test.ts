import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCRIPTS, SHELLS } from '../../../src/cli/complete/scripts.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { CliWorld } from './cli-world.ts';
import { complete, requireShell } from './real-shells.ts';

test.each(SHELLS)('completion %s prints the script, and as JSON too', async (shell) => {
  await using world = new CliWorld();
  expect(await world.run('completion', shell)).toEqual({ code: 0, out: SCRIPTS[shell], err: '' });
  expect(JSON.parse((await world.run('completion', shell, '-o', 'json')).out)).toEqual({
    schema_version: 1,
    shell,
    script: SCRIPTS[shell],
  });
});

test('another shell is refused, with the one that was meant', async () => {
  await using world = new CliWorld();
  const { code, err } = await world.run('completion', 'fihs');
  expect(code).toBe(2);
  expect(err).toContain('Did you mean "fish"?');
  expect((await world.run('completion')).code).toBe(2);
});

describe('__complete', () => {
  test('answers from the configuration, whatever is wrong with it', async () => {
    await using world = new CliWorld();
    expect((await world.run('__complete', '--', 'stop', '')).out).toBe('api\tcomponent\n');
    writeFileSync(world.dir.at('other.yaml'), 'components: { web: { proces: $X } }');
    const other = await world.run('__complete', '--', '-f', 'other.yaml', 'stop', 'w');
    expect(other).toEqual({ code: 0, out: 'web\tcomponent\n', err: '' });
    expect((await world.run('__complete', '--', 'stop', 'api', '')).out).toBe('');
    expect((await world.run('__complete', '--', 'graph', '--format=m')).out).toBe('--format=mermaid\t\n');
    expect((await world.run('__complete', '--', 'up', '-f', '')).out).toBe(':files\n');
  });

  test.each([
    [['-f', 'none.yaml', 'stop', '']],
    [['nonsense', '']],
    [[]],
    [['stop', '\u0000']],
    [['-f', '.', 'stop', '']],
  ])('never complains: %j', async (words) => {
    await using world = new CliWorld();
    const { code, err } = await world.run('__complete', '--', ...words);
    expect([code, err]).toEqual([0, '']);
  });

  test('is not shown', async () => {
    await using world = new CliWorld();
    expect((await world.run('--help')).out).not.toContain('__complete');
    expect((await world.run('__complet')).err).not.toContain('__complete');
  });
});

describe('in a real shell', () => {
  let program: Bundle;
  let project: ReturnType<typeof tempDir>;
  let own: ReturnType<typeof tempDir>;
  beforeAll(async () => {
    program = await bundle('src/cli/main.ts');
    project = tempDir();
    own = tempDir();
    writeFileSync(project.at('keepwell.yaml'), 'components:\n  api: {}\n  worker: {}\n  web-1: {}\n');
  });
  afterAll(() => {
    program.remove();
    project[Symbol.dispose]();
    own[Symbol.dispose]();
  });
  const press = (shell: (typeof SHELLS)[number], line: string) =>
    complete(shell, line, { cwd: project.path, own: own.path, program: program.path });

  test('bash', (context) => {
    requireShell('bash', context);
    expect(press('bash', 'keepwell sta')).toEqual(['status', 'start']);
    expect(press('bash', 'keepwell stop api w')).toEqual(['worker', 'web-1']);
    expect(press('bash', 'keepwell graph --format=m')).toEqual(['mermaid']);
    expect(press('bash', 'keepwell graph --format=')).toEqual(['text', 'mermaid', 'dot']);
    expect(press('bash', 'keepwell -o ')).toEqual(['text', 'json']);
    expect(press('bash', 'keepwell up -f keep')).toEqual(['keepwell.yaml']);
    expect(press('bash', 'keepwell up --file=keep')).toEqual(['keepwell.yaml']);
    expect(press('bash', 'keepwell nonsense ')).toEqual([]);
  });

  test('zsh', (context) => {
    requireShell('zsh', context);
    expect(press('zsh', 'keepwell restar')).toEqual(['keepwell restart ']);
    expect(press('zsh', 'keepwell stop api wo')).toEqual(['keepwell stop api worker ']);
    expect(press('zsh', 'keepwell graph --format=m')).toEqual(['keepwell graph --format=mermaid ']);
    expect(press('zsh', 'keepwell up -f keep')).toEqual(['keepwell up -f keepwell.yaml ']);
    expect(press('zsh', 'keepwell up --file=keep')).toEqual(['keepwell up --file=keepwell.yaml ']);
    expect(press('zsh', 'keepwell nonsense x')).toEqual(['keepwell nonsense x']);
  });

  test('fish', (context) => {
    requireShell('fish', context);
    expect(press('fish', 'keepwell restar')).toEqual(['restart\tstop components and start them again']);
    expect(press('fish', 'keepwell stop api w')).toEqual(['web-1\tcomponent', 'worker\tcomponent']);
    expect(press('fish', 'keepwell graph --format=m')).toEqual(['--format=mermaid']);
    expect(press('fish', 'keepwell up -f keep')).toEqual(['keepwell.yaml']);
    expect(press('fish', 'keepwell up --file=keep')).toEqual(['--file=keepwell.yaml']);
    expect(press('fish', 'keepwell nonsense ')).toEqual([]);
  });
});
