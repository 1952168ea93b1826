/** One command kept without a configuration, and commands run where components run. */
import { mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** A folder with nothing in it. */
const nothing = (): TestProject => new TestProject({ dir: mkdtempSync(join(tmpdir(), 'keepwell-run-')) });
const LONG = ['sh', '-c', 'echo "it says $GREETING in $PWD"; exec sleep 1000'];

test('a command is kept without a configuration: explained, adopted after a kill -9, and gone after rm', async () => {
  await using project = nothing();
  const said = await project.ok('run', '--name', 'web', '-e', 'GREETING=$HOME $(x)', '--', ...LONG);
  expect(said).toContain('"keepwell rm web" ends it and forgets it');
  const before = await project.until('web', 'up', ({ state }) => state === 'running');
  await waitFor('its output', () => project.log('web').includes(`it says $HOME $(x) in ${project.dir}`));
  expect(statSync(join(project.home, 'kept/web.json')).mode & 0o777).toBe(0o600);

  kill(project.daemonPid()!);
  const adopted = await project.until('web', 'taken over', ({ adopted: is, state }) => is && state === 'running');
  expect(adopted.pid).toBe(before.pid);

  kill(before.pid!);
  await project.until('web', 'back', ({ pid, state }) => state === 'running' && pid !== before.pid);
  expect(await project.ok('why')).toMatch(/web.*SIGKILL/);

  // In a folder below, and beside the first one.
  mkdirSync(project.path('below'));
  expect((await project.cliIn('below', 'run', '--', 'sleep', '1000')).code).toBe(0);
  expect((await project.cliIn('below', 'run', '--', 'sleep', '1000')).code).toBe(0);
  const { components } = await project.status();
  expect(components.map(({ name }) => name)).toEqual(['sleep', 'sleep-2', 'web']);

  expect(await project.ok('rm', 'sleep*')).toContain('removed: sleep, sleep-2');
  expect((await project.status()).components.map(({ name, state }) => [name, state])).toEqual([['web', 'running']]);

  // Also without a daemon, and it comes back with the next one.
  await project.ok('down');
  expect((await project.component('web')).state).toBe('stopped');
  await project.ok('up');
  await project.until('web', 'up again', ({ state }) => state === 'running');
  expect(await project.ok('rm', 'web')).toContain('removed: web');
  expect((await project.status()).components).toEqual([]);
  expect((await project.cli('rm', 'web')).code).toBe(4);
  expect(readdirSync(join(project.home, 'kept'))).toEqual(['alone']);
});

test('a kept command joins the configuration of its folder, which neither changes it nor loses it', async () => {
  await using project = new TestProject('components:\n  api: { process: { command: [sleep, "1000"] } }\n');
  await project.ok('up');
  const { pid } = await project.component('api');
  await project.ok('run', '--name', 'extra', '--restart', 'never', '--', 'sleep', '1000');
  expect((await project.status()).components.map(({ name }) => name)).toEqual(['api', 'extra']);
  expect((await project.component('api')).pid).toBe(pid);
  expect(await project.ok('validate')).toContain('2 components');
  await project.ok('reload');
  await project.until('extra', 'still there', ({ state }) => state === 'running');

  project.configure('components:\n  extra: { process: { command: [sleep, "1"] } }\n');
  const twice = await project.cli('reload');
  expect(twice.code).toBe(2);
  expect(twice.stderr).toMatch(/keeps a command with the name "extra"[\s\S]*keepwell rm extra/);
  expect((await project.component('api')).pid).toBe(pid);

  const refused = await project.cli('rm', 'api');
  expect([refused.code, refused.stderr.includes('There is no component "api"')]).toEqual([4, true]);
});

test('nothing is kept of what cannot be kept', async () => {
  await using project = nothing();
  const { code, stderr } = await project.cli('run', '--', './no-such-program');
  expect(code).toBe(2);
  expect(stderr).toContain('Nothing is kept: no such command');
  expect(readdirSync(project.dir)).toEqual([]);
  expect((await project.cli('status')).stderr).toContain('No keepwell.yaml found');
});

test('exec runs where a process runs, whether it runs or not, and hands its end through', async () => {
  await using project = new TestProject(`components:
  api:
    process: { command: [sleep, "1000"], cwd: sub, env: { COLOUR: blue }, env_file: ../vars }
`);
  mkdirSync(project.path('sub'));
  project.write('vars', 'SIZE=large\n');
  project.configure(`components:
  api:
    process: { command: [sleep, "1000"], cwd: sub, env: { COLOUR: blue }, env_file: vars }
`);
  const show = ['exec', 'api', '--', 'sh', '-c', 'echo "$COLOUR $SIZE $OF_DAEMON $KEEPWELL_RUN" in $PWD; exit 7'];
  const before = await project.cliWith({ OF_DAEMON: 'mine' }, ...show);
  expect([before.code, before.stdout]).toEqual([7, `blue large mine  in ${project.path('sub')}\n`]);
  expect((await project.cliWith({ OF_DAEMON: 'first' }, 'up')).code).toBe(0);
  const { stdout } = await project.cliWith({ OF_DAEMON: 'second' }, ...show);
  expect(stdout).toBe(`blue large first  in ${project.path('sub')}\n`);

  const killed = await project.cli('exec', 'api', 'sh', '-c', 'kill -9 $$');
  expect(killed.code).toBe(137);
  const missing = await project.cli('exec', 'api', '--', 'no-such-program');
  expect([missing.code, missing.stderr.includes('no such command: "no-such-program"')]).toEqual([1, true]);
  const unknown = await project.cli('exec', 'apo', '--', 'true');
  expect([unknown.code, unknown.stderr.includes('Did you mean "api"?')]).toEqual([4, true]);
  expect((await project.cli('-H', 'ssh://nobody@127.0.0.1/x', 'exec', 'api', '--', 'true')).code).toBe(2);
});

test.skipIf(process.getuid?.() !== 0)('exec runs as the user of the component', async () => {
  await using project = new TestProject(
    'components:\n  api: { process: { command: [sleep, "1000"], user: nobody, cwd: /, env: { COLOUR: "it\'s blue" } } }\n',
  );
  expect(await project.ok('exec', 'api', '--', 'sh', '-c', 'id -un; echo $COLOUR')).toBe("nobody\nit's blue\n");
});
