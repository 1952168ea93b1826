import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isAlive, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const TWENTY = `components:\n${Array.from({ length: 20 }, (_, i) => `  c${i}:\n    process: { command: "while :; do echo tick; sleep 0.2; done", shell: true }`).join('\n')}\n`;

/** Waits until a daemon other than `before` answers. */
const back = (project: TestProject, before: number | null) =>
  waitFor('a new daemon to answer', async () => {
    const pid = project.daemonPid();
    if (pid === null || pid === before) return null;
    const { daemon } = await project.status();
    return daemon.answers ? daemon : null;
  });

describe('kill -9 of the daemon', () => {
  test('under twenty components: it is back by itself, nothing restarts, the logs go on', async () => {
    await using project = new TestProject(TWENTY);
    await project.ok('up');
    const before = await project.status();
    const written = before.components.map(({ name }) => project.log(name).length);
    kill(before.daemon.pid!);
    await back(project, before.daemon.pid);
    const after = await project.status();
    expect(after.components.map(({ pid, restarts, state }) => [pid, restarts, state])).toEqual(
      before.components.map(({ pid }) => [pid, 0, 'running']),
    );
    expect(after.components.every(({ adopted }) => adopted)).toBe(true);
    await waitFor('every log to have grown', () =>
      after.components.every(({ name }, i) => project.log(name).length > written[i]!),
    );
    expect(await project.crashes()).toEqual([]);
  });

  test('an exit that happens while no daemon runs is recorded with its code, and then restarted', async () => {
    await using project = new TestProject(`components:
  dies: { process: { command: "echo up; while [ ! -e go ]; do sleep 0.05; done; rm go; exit 42", shell: true }, min_uptime: 0s }
  lives: { process: { command: [sleep, "1000"] } }
`);
    await project.ok('up');
    const { daemon, components } = await project.status();
    kill(project.guardianPid()!);
    kill(daemon.pid!);
    await waitFor('the daemon to be gone', () => project.daemonPid() === null);
    project.write('go', '');
    const { pid } = components.find(({ name }) => name === 'dies')!;
    await waitFor('the component to have exited', () => !isAlive(pid!));
    await project.ok('up');
    await project.until('dies', 'running again', ({ state, restarts }) => state === 'running' && restarts === 1);
    expect((await project.crashes()).map(({ subject, exit }) => [subject.name, exit.code])).toEqual([['dies', 42]]);
    expect((await project.component('lives')).restarts).toBe(0);
  });

  test('the daemon that comes back runs what ran before, whatever was edited meanwhile', async () => {
    await using project = new TestProject('components:\n  a: { process: { command: [sleep, "1000"] } }\n');
    await project.ok('up');
    const before = await project.status();
    project.configure('components:\n  a: { process: { command: [sleep, "2000"] } }\n  b: { prcess: {} }\n');
    kill(before.daemon.pid!);
    await back(project, before.daemon.pid);
    expect((await project.component('a')).pid).toBe(before.components[0]!.pid);
    const { code, stderr } = await project.cli('up');
    expect(code).toBe(2);
    expect(stderr).toContain('keepwell.yaml:3');
    expect((await project.component('a')).pid).toBe(before.components[0]!.pid);
  });
});

describe('kill -9 of the others', () => {
  const ONE =
    'components:\n  a: { process: { command: "echo up; sleep 1000", shell: true }, restart: { backoff: { initial: 0s } } }\n';

  test('the guardian: the daemon gets itself a new one, which does its work', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    const { daemon, components } = await project.status();
    const old = project.guardianPid()!;
    kill(old);
    const guardian = await waitFor('a new guardian', async () => {
      const { guardian_pid: pid } = (await project.status()).daemon;
      return pid !== old && pid !== null && isAlive(pid) ? pid : null;
    });
    expect(guardian).not.toBe(old);
    kill(daemon.pid!);
    await back(project, daemon.pid);
    expect((await project.component('a')).pid).toBe(components[0]!.pid);
    await project.ok('down');
    await waitFor('everything to be gone', () => project.processes().length === 0);
  });

  test('guardian and daemon: components live on, status tells the truth, up takes them over', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    const { daemon, components } = await project.status();
    kill(project.guardianPid()!);
    kill(daemon.pid!);
    await waitFor('the daemon to be gone', () => project.daemonPid() === null);
    const offline = await project.status();
    expect(offline.daemon.running).toBe(false);
    expect(offline.components[0]).toMatchObject({ state: 'running', pid: components[0]!.pid });
    await project.ok('up');
    expect(await project.component('a')).toMatchObject({ pid: components[0]!.pid, restarts: 0, adopted: true });
  });

  test('the shim: the component lives on, and its end is recorded as unknown, not invented', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    const { pid } = await project.component('a');
    kill(project.shims()[0]!.pid);
    await waitFor('the daemon to notice', () => readFileSync(`${project.home}/daemon.log`, 'utf8').includes('shim'));
    expect(await project.component('a')).toMatchObject({ state: 'running', pid, restarts: 0 });
    kill(pid!);
    await project.until('a', 'restarted', ({ restarts, state }) => restarts === 1 && state === 'running');
    const [crash] = await project.crashes();
    expect(crash!.exit).toMatchObject({ code: null, signal: null });
    expect(crash!.exit.unknown).toContain('shim');
  });

  test('the shim, and then the daemon: the orphan is adopted all the same', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    const { daemon, components } = await project.status();
    kill(project.shims()[0]!.pid);
    kill(daemon.pid!);
    await back(project, daemon.pid);
    expect(await project.component('a')).toMatchObject({ state: 'running', pid: components[0]!.pid, restarts: 0 });
  });
});
