/** Where a project is: found from below, never somebody else's, and where its folder was moved or copied to. */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const SLEEPS = 'components: { a: { process: { command: [sleep, "1000"] } } }\n';

test.runIf(process.geteuid?.() === 0)("another user's configuration in a folder above is not run", async () => {
  await using project = new TestProject('components: { a: { process: { command: [touch, owned] } } }\n');
  chownSync(project.path('keepwell.yaml'), 65534, 65534);
  mkdirSync(project.path('below'));
  const { code, stderr } = await project.cliIn('below', 'up');
  expect(code).toBe(2);
  expect(stderr).toContain('belongs to user 65534');
  expect(stderr).toContain(`keepwell -f ${project.path('keepwell.yaml')}`);
  expect(project.read('owned')).toBe('');
  expect(project.processes()).toEqual([]);
});

/** A place beside the project, empty again afterwards. */
function otherPlace(): { readonly path: string } & Disposable {
  const parent = mkdtempSync(join(tmpdir(), 'keepwell-place-'));
  return { path: join(parent, 'new'), [Symbol.dispose]: () => rmSync(parent, { recursive: true, force: true }) };
}

test('a project that was moved goes on at its new place', async () => {
  using place = otherPlace();
  await using project = new TestProject(SLEEPS);
  await project.ok('up');
  await project.ok('down');
  renameSync(project.dir, place.path);
  await using moved = project.at(place.path);
  await moved.ok('up');
  expect((await moved.component('a')).state).toBe('running');
  expect(await moved.ok('events', '-o', 'json', '--limit', '100')).toMatch(/daemon\.ended[\s\S]*daemon\.started/);
});

test('one that was moved while it ran can be reached there, ended, and started anew', async () => {
  using place = otherPlace();
  await using project = new TestProject(SLEEPS);
  await project.ok('up');
  const { pid } = await project.component('a');
  renameSync(project.dir, place.path);
  await using moved = project.at(place.path);
  const status = await moved.status();
  expect(status.daemon.answers).toBe(true);
  expect(status.components[0]?.pid).toBe(pid);
  // The daemon notices, and makes itself a state directory at its old place.
  await waitFor('the state directory to be back', () => existsSync(join(project.dir, '.keepwell/project.json')));
  expect((await moved.cli('up')).stderr).toContain('Run "keepwell down" first');
  await moved.ok('down');
  await moved.ok('up');
  expect((await moved.component('a')).pid).not.toBe(pid);
});

test('a copy is told from its original, and says what to do', async () => {
  using place = otherPlace();
  await using project = new TestProject(SLEEPS);
  await project.ok('up');
  execFileSync('cp', ['-a', project.dir, place.path]);
  await using copy = project.at(place.path);
  const refused = await copy.cli('up');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`was copied from ${project.dir}`);
  expect(refused.stderr).toContain(`rm -r ${join(place.path, '.keepwell')}`);
  rmSync(join(place.path, '.keepwell'), { recursive: true });
  await copy.ok('up');
  const [original, copied] = [await project.component('a'), await copy.component('a')];
  expect(copied.pid).not.toBe(original.pid);
  expect(original.state).toBe('running');
});
