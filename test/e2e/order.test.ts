import { describe, expect, test } from 'vitest';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** Writes what happens to it into a common diary. */
const diarist = (name: string) =>
  `trap 'echo ${name} stop >> diary; exit 0' TERM; echo ${name} start >> diary; while :; do sleep 0.05; done`;
const CHAIN = `components:
  web: { process: { command: "${diarist('web')}", shell: true }, depends_on: { api: ready } }
  api: { process: { command: "${diarist('api')}", shell: true }, depends_on: { db: ready } }
  db: { process: { command: "${diarist('db')}", shell: true } }
`;
const diary = (project: TestProject) => project.read('diary').trim().split('\n');
const gone = (project: TestProject) => waitFor('the daemon to be gone', () => project.daemonPid() === null);

/** A job that is done and one that nobody needs stand in the file before those whose order matters. */
const MIXED = `components:
  init: { process: { command: ["true"] }, restart: { policy: on-failure } }
  solo: { process: { command: "${diarist('solo')}", shell: true } }
  db: { process: { command: "${diarist('db')}", shell: true }, depends_on: { init: completed } }
  web: { process: { command: "${diarist('web')}", shell: true }, depends_on: { db: ready } }
`;
const isOfOrder = (line: string) => !line.startsWith('solo');

describe('with a completed job and an independent component', () => {
  test.each([[['down']], [['stop', '--all']], [['stop', 'db', 'web', 'init']]])(
    'keepwell %s ends dependents before what they depend on',
    async (command) => {
      await using project = new TestProject(MIXED);
      await project.ok('up');
      await waitFor('all to have begun', () => diary(project).length === 3);
      await project.ok(...command);
      expect(diary(project).filter((line) => isOfOrder(line) && line.endsWith('stop'))).toEqual([
        'web stop',
        'db stop',
      ]);
    },
  );

  test('restart --all takes dependents down first and brings them up last', async () => {
    await using project = new TestProject(MIXED);
    await project.ok('up');
    await waitFor('all to have begun', () => diary(project).length === 3);
    await project.ok('restart', '--all');
    const ordered = () => diary(project).filter(isOfOrder);
    await waitFor('both to have begun again', () => ordered().length === 6);
    expect(ordered().slice(2, 4)).toEqual(['web stop', 'db stop']);
  });
});

describe('SIGTERM to the daemon', () => {
  test('stops in reverse order, and a later start brings the same set back', async () => {
    await using project = new TestProject(CHAIN);
    await project.ok('up');
    await waitFor('all three to have begun', () => diary(project).length === 3);
    await project.ok('stop', 'web');
    kill(project.daemonPid()!, 'SIGTERM');
    await gone(project);
    expect(diary(project)).toEqual(['db start', 'api start', 'web start', 'web stop', 'api stop', 'db stop']);
    await waitFor('nothing to be left', () => project.processes().length === 0);

    const daemon = project.start(['daemon']);
    await project.until('api', 'running', ({ state }) => state === 'running');
    const { components } = await project.status();
    expect(Object.fromEntries(components.map(({ name, state }) => [name, state]))).toEqual({
      web: 'stopped',
      api: 'running',
      db: 'running',
    });
    daemon.kill('SIGTERM');
    await gone(project);
  });

  test('a second one leaves at once and the components live on', async () => {
    await using project = new TestProject(
      'components:\n  stubborn: { process: { command: "trap : TERM; while :; do sleep 0.1; done", shell: true }, stop: { grace: 60s } }\n',
    );
    await project.ok('up');
    const { pid } = await project.component('stubborn');
    const daemon = project.daemonPid()!;
    kill(daemon, 'SIGTERM');
    await project.until('stubborn', 'stopping', ({ state }) => state === 'stopping');
    kill(daemon, 'SIGTERM');
    await gone(project);
    await waitFor('the guardian to be gone too', () => project.guardianPid() === null);
    await project.ok('up', '--no-wait');
    expect((await project.component('stubborn')).pid).toBe(pid);
    kill(project.guardianPid()!); // so that nobody waits out its sixty seconds
    kill(project.daemonPid()!);
  });

  test('SIGHUP reads the configuration again; a mistake in it changes nothing', async () => {
    await using project = new TestProject('components:\n  a: { process: { command: [sleep, "1000"] } }\n');
    await project.ok('up');
    const { pid } = await project.component('a');
    project.configure('components:\n  a: { process: { command: sleep } }\n');
    kill(project.daemonPid()!, 'SIGHUP');
    await waitFor('the refusal in daemon.log', () =>
      project.read('.keepwell/daemon.log').includes('configuration not applied'),
    );
    expect(await project.component('a')).toMatchObject({ pid, state: 'running' });
    project.configure(
      'components:\n  a: { process: { command: [sleep, "1000"] } }\n  b: { process: { command: [sleep, "1000"] } }\n',
    );
    kill(project.daemonPid()!, 'SIGHUP');
    await waitFor(
      'b to run',
      async () => (await project.status()).components.find(({ name }) => name === 'b')?.state === 'running',
    );
    expect(await project.component('a')).toMatchObject({ pid });
  });
});

describe('what nobody should notice', () => {
  test('a daemon that is stopped for a while restarts nothing when it goes on', async () => {
    await using project = new TestProject(
      'components:\n  a: { process: { command: "while :; do echo tick; sleep 0.05; done", shell: true } }\n',
    );
    await project.ok('up');
    const { pid } = await project.component('a');
    const daemon = project.daemonPid()!;
    kill(daemon, 'SIGSTOP');
    const before = project.log('a').length;
    await waitFor('the component to write a hundred lines meanwhile', () => project.log('a').length > before + 500);
    kill(daemon, 'SIGCONT');
    expect(await project.component('a')).toMatchObject({ pid, restarts: 0, state: 'running' });
  });

  test('an exit while the daemon is stopped is handled when it goes on', async () => {
    await using project = new TestProject(
      'components:\n  a: { process: { command: [sleep, "1000"] }, restart: { backoff: { initial: 0s } } }\n',
    );
    await project.ok('up');
    const { pid } = await project.component('a');
    const daemon = project.daemonPid()!;
    kill(daemon, 'SIGSTOP');
    kill(pid!, 'SIGTERM');
    kill(daemon, 'SIGCONT');
    await project.until('a', 'restarted', ({ restarts, state }) => restarts === 1 && state === 'running');
    expect((await project.crashes())[0]!.exit.signal).toBe('SIGTERM');
  });
});

describe('stop and start by hand', () => {
  test('stopping one that others need stops only that one, and start brings back what it needs', async () => {
    await using project = new TestProject(CHAIN);
    await project.ok('up');
    await project.ok('stop', 'db');
    expect((await project.component('api')).state).toBe('running');
    await project.ok('stop', 'api');
    await project.ok('start', 'api');
    expect((await project.component('db')).state).toBe('running');
  });

  test('a component that ignores SIGTERM is killed after its grace, and the answer says so', async () => {
    await using project = new TestProject(
      'components:\n  deaf: { process: { command: "trap : TERM; while :; do sleep 0.1; done", shell: true }, stop: { grace: 500ms } }\n',
    );
    await project.ok('up');
    const { code, stdout, stderr } = await project.cli('stop', 'deaf');
    expect(code).toBe(0);
    expect(stdout + stderr).toMatch(/deaf.*(killed|SIGKILL)/s);
    expect(project.processes().some(({ command }) => command.includes('trap'))).toBe(false);
  });

  test('restart gives a new pid, reads env_file again and counts no crash', async () => {
    await using project = new TestProject(
      'components:\n  a: { process: { command: "echo value=$$WORD; sleep 1000", shell: true, env_file: words.env } }\n',
    );
    project.write('words.env', 'WORD=first\n');
    await project.ok('up');
    const { pid } = await project.component('a');
    project.write('words.env', 'WORD=second\n');
    await project.ok('restart', 'a');
    const after = await project.component('a');
    expect(after.pid).not.toBe(pid);
    expect(after).toMatchObject({ restarts: 0, last_restart: { reason: 'requested by hand' } });
    await waitFor('the new value', () => project.log('a').includes('value=second'));
    expect(await project.crashes()).toEqual([]);
  });
});
