import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ENTRY, isAlive, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const A = '  a: { process: { command: [sleep, "1000"] } }\n';
/** Its first run is only ended by the file `end`. */
const SLOW = `  slow:
    process: { shell: true, command: "test -e been && exec sleep 1000; touch been; trap : TERM; echo up; until test -e end; do sleep 0.1; done" }
    stop: { grace: 10m }
    min_uptime: 50ms
`;
const hasBegun = (project: TestProject) => waitFor('the slow one', () => project.log('slow').includes('up'));
const names = async (project: TestProject) => (await project.status()).components.map(({ name }) => name);
const killBoth = async (project: TestProject) => {
  kill(project.guardianPid()!);
  kill(project.daemonPid()!);
  await waitFor('the daemon to be gone', () => project.daemonPid() === null);
};

describe('the configuration changes while things are under way', () => {
  test('a component that is removed and put back during its grace never runs twice', async () => {
    await using project = new TestProject(`components:\n${A}${SLOW}`);
    await project.ok('up');
    await hasBegun(project);
    const first = (await project.component('slow')).pid!;
    project.configure(`components:\n${A}`);
    await project.ok('up');
    expect((await project.component('slow')).removed).toBe(true);
    project.configure(`components:\n${A}${SLOW}`);
    await project.ok('up', '--no-wait');
    expect((await names(project)).sort()).toEqual(['a', 'slow']);
    project.write('end', '');
    const again = await project.until('slow', 'running anew', ({ state, pid }) => state === 'running' && pid !== first);
    expect(isAlive(first)).toBe(false);
    expect(again.removed).toBe(false);
  });

  test('a component that was stopped before it was removed is gone at once, and --all means the rest', async () => {
    await using project = new TestProject(`components:\n${A}  b: { process: { command: [sleep, "1000"] } }\n`);
    await project.ok('up');
    await project.ok('stop', 'b');
    project.configure(`components:\n${A}`);
    await project.ok('up');
    expect(await names(project)).toEqual(['a']);
    await project.ok('restart', '--all');
  });

  test('--all leaves out what is on its way out', async () => {
    await using project = new TestProject(`components:\n${A}${SLOW}`);
    await project.ok('up');
    await hasBegun(project);
    project.configure(`components:\n${A}`);
    await project.ok('up');
    expect(await project.ok('restart', '--all')).toContain('restarted: a\n');
    project.write('end', '');
  });
});

describe('the daemon loses its place', () => {
  test('a removed socket is put back', async () => {
    await using project = new TestProject(`components:\n${A}`);
    await project.ok('up');
    const { pid } = await project.component('a');
    const daemon = project.daemonPid()!;
    kill(daemon, 'SIGSTOP'); // or it may put it back before anybody asks
    rmSync(`${project.home}/keepwell.sock`);
    const { stderr } = await project.cli('status');
    expect(stderr).toContain('does not answer');
    kill(daemon, 'SIGCONT');
    await project.ok('restart', 'a', '--no-wait');
    await project.until('a', 'restarted', (component) => component.state === 'running' && component.pid !== pid);
  });

  test('a removed state directory is made anew, and a second daemon is still refused', async () => {
    await using project = new TestProject(`components:\n${A}`);
    await project.ok('up');
    const before = await project.status();
    rmSync(project.home, { recursive: true });
    await project.answered(before.daemon.pid!);
    expect((await project.component('a')).pid).toBe(before.components[0]!.pid);
    expect((await project.cli('daemon')).code).toBe(1);
    await project.ok('down');
    await waitFor('nothing to be left', () => project.processes().length === 0);
  });

  test('a daemon that cannot listen ends instead of holding the project in silence', async () => {
    await using project = new TestProject(`components:\n${A}`);
    mkdirSync(`${project.home}/keepwell.sock`, { recursive: true, mode: 0o700 });
    const { code } = await project.cli('daemon');
    expect(code).not.toBe(0);
    rmSync(`${project.home}/keepwell.sock`, { recursive: true });
    await project.ok('up');
  });

  test.skipIf(process.getuid?.() !== 0)(
    'a folder that may not be written to is named, not reported as a bug',
    async () => {
      await using project = new TestProject(`components:\n${A}`);
      const child = spawn(
        'setpriv',
        [
          '--reuid=65534',
          '--regid=65534',
          '--clear-groups',
          process.execPath,
          ENTRY,
          '-f',
          project.path('keepwell.yaml'),
          'up',
        ],
        { cwd: '/', env: { ...process.env, KEEPWELL_HOME: '/proc/keepwell' }, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      let said = '';
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      expect(await new Promise((resolve) => child.once('close', resolve))).not.toBe(70);
      expect(said).not.toContain('Please report');
    },
  );
});

describe('what lives on without its main process', () => {
  test('is told as alive when no daemon runs, and down does not call it nothing', async () => {
    await using project = new TestProject(
      'components:\n  d: { process: { command: [sh, -c, "sleep 1000 & exit 0"] } }\n',
    );
    await project.ok('up');
    await project.until('d', 'daemonised', ({ condition }) => condition === 'daemonised');
    await killBoth(project);
    expect(await project.component('d')).toMatchObject({ state: 'running', condition: 'daemonised', pid: null });
    expect((await project.cli('down')).code).toBe(3);
    await project.ok('up');
    expect(await project.component('d')).toMatchObject({ condition: 'daemonised', restarts: 0 });
  });

  test('a crash is on record even when the stop comes while its leftovers are ended', async () => {
    await using project = new TestProject(`components:
  lefty: { process: { shell: true, command: "trap '' TERM; (until test -e end; do sleep 0.2; done) & sleep 1; echo fatal; exit 4" }, stop: { grace: 10m } }
`);
    await project.ok('up', '--no-wait');
    const lefty = await project.until('lefty', 'ending its leftovers', ({ state }) => state === 'stopping');
    expect(lefty).toMatchObject({ pid: null });
    expect(lefty.note).toContain('exit code 4');
    await project.ok('stop', 'lefty', '--no-wait');
    project.write('end', '');
    await project.until('lefty', 'stopped', ({ state }) => state === 'stopped');
    expect((await project.crashes()).map(({ exit }) => exit.code)).toEqual([4]);
  });

  test('up ends with 1 as soon as something gave up, whatever else is pending', async () => {
    await using project = new TestProject(`components:
  bad: { process: { command: [sh, -c, "exit 78"] }, restart: { policy: never } }
  slow: { process: { command: [sh, -c, "exit 1"] }, restart: { backoff: { initial: 60s } } }
`);
    expect((await project.cli('up', '--timeout', '60s')).code).toBe(1);
  });

  test('a log that cannot be read does not hide the others', async () => {
    await using project = new TestProject(
      `components:\n  talks: { process: { command: "echo hello; sleep 1000", shell: true } }\n${A}`,
    );
    await project.ok('up');
    await waitFor('its words', () => project.log('talks').includes('hello'));
    rmSync(`${project.home}/logs/a.log`);
    mkdirSync(`${project.home}/logs/a.log`);
    expect(await project.ok('logs')).toContain('hello');
  });
});
