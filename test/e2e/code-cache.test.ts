import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TestProject } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';

const CONFIG = 'components:\n  a: { process: { command: [sleep, "1000"] } }\n';

test('commands and the daemon begin from what V8 made of them the last time, and go on without a word when that is damaged or gone', async () => {
  using caches = tempDir();
  await using project = new TestProject(CONFIG, { XDG_CACHE_HOME: caches.path });
  const files = () =>
    readdirSync(caches.path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cache'));
  const round = async () => {
    for (const command of ['up', 'status', 'down']) {
      const { code, stderr } = await project.cli(command);
      expect({ command, code }).toEqual({ command, code: 0 });
      expect(stderr).not.toContain('Warning');
    }
  };
  await round();
  const names = files().map((name) => name.split('/').at(-1));
  expect(names.sort()).toEqual(['daemon.cache', 'down.cache', 'status.cache', 'up.cache']);
  const bytes = () => new Map(files().map((name) => [name, readFileSync(caches.at(name)).length]));
  const before = bytes();
  await round();
  expect(bytes()).toEqual(before); // all was found: nothing had to be written
  for (const name of files()) writeFileSync(caches.at(name), readFileSync(caches.at(name)).fill(0xa5, 5_000, 9_000));
  await round();
});

test('a home that cannot be written slows a command down and does nothing else', async () => {
  await using project = new TestProject(CONFIG, { HOME: '/proc/nobody', XDG_CACHE_HOME: '' });
  expect((await project.cli('up')).code).toBe(0);
  expect((await project.cli('status')).stdout).toContain('running');
});
