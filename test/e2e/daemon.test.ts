import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { builtVersion } from '../support/built-version.ts';
import { canInject } from '../support/faulty-reads.ts';
import { ENTRY, isAlive, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const ONE = 'components:\n  a: { process: { command: [sleep, "1000"] } }\n';
const isRoot = process.getuid?.() === 0;
const closed = (child: ReturnType<typeof spawn>) =>
  new Promise<number | null>((resolve) => child.once('close', resolve));

describe('an upgrade', () => {
  test('up with another version takes over without restarting anything, and exits are still seen', async () => {
    await using project = new TestProject(
      `${ONE}  b: { process: { command: "while [ ! -e go ]; do sleep 0.05; done; exit 9", shell: true }, min_uptime: 0s, restart: { policy: never } }\n`,
    );
    await project.ok('up');
    const before = await project.status();
    using other = builtVersion('9.9.9');
    const child = spawn(process.execPath, [other.entry, 'up'], {
      cwd: project.dir,
      stdio: 'ignore',
    });
    expect(await closed(child)).toBe(0);
    const after = await project.status();
    expect(after.daemon).toMatchObject({ running: true, version: '9.9.9' });
    expect(after.daemon.pid).not.toBe(before.daemon.pid);
    expect(after.components.map(({ pid, restarts }) => [pid, restarts])).toEqual(
      before.components.map(({ pid }) => [pid, 0]),
    );
    project.write('go', '');
    await project.until('b', 'given up', ({ state }) => state === 'gave-up');
    expect((await project.crashes())[0]!.exit.code).toBe(9);
  });
});

describe('an error inside the daemon', () => {
  test('ends it with 70 and its reason; the guardian brings it back; components do not notice', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    const { pid } = await project.component('a');
    kill(project.guardianPid()!);
    kill(project.daemonPid()!);
    await waitFor('the daemon to be gone', () => project.daemonPid() === null);
    const failing = project.start(['daemon'], { KEEPWELL_FAILPOINTS: 'step.before-commit=error:EBUG@1' });
    const end = closed(failing);
    await project.answered(failing.pid);
    await project.cli('restart', 'a', '--no-wait');
    expect(await end).toBe(70);
    expect(project.read('.keepwell/daemon.log')).toMatch(/falls over.*EBUG/);
    expect(isAlive(pid!)).toBe(true);
    await project.ok('up');
    await project.ok('wait', 'a', '--for', 'ready');
  });
});

describe('a narrow place', () => {
  test('with fewer file descriptors than components it stays up, says so, and recovers', async () => {
    await using project = new TestProject(
      `components:\n${Array.from({ length: 60 }, (_, i) => `  c${i}: { process: { command: [sleep, "1000"] } }`).join('\n')}\n`,
    );
    const child = spawn('sh', ['-c', `ulimit -n 64; exec "${process.execPath}" "${ENTRY}" daemon`], {
      cwd: project.dir,
      env: { ...process.env, KEEPWELL_HOME: project.home },
      stdio: 'ignore',
    });
    const exited = closed(child);
    // Asked before the stop: some of them may have the room by the time it is over.
    const before = await waitFor('some to run and some to be waiting for room', async () => {
      const { components } = await project.status();
      const states = components.map(({ state }) => state);
      return states.includes('running') && states.includes('backing-off') ? components : null;
    });
    expect(isAlive(child.pid!)).toBe(true);
    const waiting = before.filter(({ state }) => state === 'backing-off').map(({ name }) => name);
    const running = before.filter(({ state }) => state === 'running').map(({ name }) => name);
    await project.ok('stop', ...running.slice(0, 20));
    await waitFor('others to take the room', async () => {
      const { components } = await project.status();
      return components.some(({ name, state }) => state === 'running' && waiting.includes(name));
    });
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  test.skipIf(!canInject)(
    'starts that go on at once leave descriptors free for watching, however late they get theirs',
    async () => {
      await using project = new TestProject(
        `components:\n${Array.from({ length: 60 }, (_, i) => `  c${i}: { process: { command: [sleep, "1000"] } }`).join('\n')}\n`,
      );
      const child = spawn('sh', ['-c', `ulimit -n 64; exec "${process.execPath}" "${ENTRY}" daemon`], {
        cwd: project.dir,
        env: { ...process.env, KEEPWELL_HOME: project.home },
        stdio: 'ignore',
      });
      const exited = closed(child);
      await project.answered();
      await project.ok('stop', '--all');
      // A slow launcher: all starts are on their way before the first of them holds anything.
      const launcher = project.processes().find(({ command }) => / launcher /.test(command))!;
      const slow = ['-e', 'inject=renameat:delay_enter=50000', '-p', String(launcher.pid)];
      const strace = spawn('strace', slow, { stdio: 'ignore' });
      const isTraced = () =>
        readFileSync(`/proc/${launcher.pid}/status`, 'utf8').includes(`TracerPid:\t${strace.pid}\n`);
      await waitFor('the launcher to be slow', isTraced);
      await project.ok('start', '--all', '--no-wait');
      const settled = await waitFor('every start to have its place or none', async () => {
        const { components, daemon } = await project.status();
        const isSettled = components.every(({ state }) => ['running', 'backing-off'].includes(state));
        return daemon.answers && isSettled && components.some(({ state }) => state === 'running') ? components : null;
      });
      expect(settled.filter(({ unknown_since }) => unknown_since !== null)).toEqual([]);
      child.kill('SIGTERM');
      expect(await exited).toBe(0);
    },
  );

  test('a daemon with fewer file descriptors than living runs adopts them all, sees their ends, and can be asked', async () => {
    await using project = new TestProject(
      `components:\n${Array.from({ length: 60 }, (_, i) => `  c${i}: { process: { command: [sleep, "1000"] } }`).join('\n')}\n`,
    );
    await project.ok('up');
    const pidsOf = async () => (await project.status()).components.map(({ pid }) => pid);
    const before = await pidsOf();
    kill(project.guardianPid()!);
    kill(project.daemonPid()!);
    await waitFor('the daemon to be gone', () => project.daemonPid() === null);
    const child = spawn('sh', ['-c', `ulimit -n 70; exec "${process.execPath}" "${ENTRY}" daemon`], {
      cwd: project.dir,
      env: { ...process.env, KEEPWELL_HOME: project.home },
      stdio: 'ignore',
    });
    const exited = closed(child);
    await project.answered(child.pid);
    expect(await pidsOf()).toEqual(before);
    // Some of them are listened to and some are not: the ends of all are seen, and how they ended.
    for (const pid of before) kill(pid!);
    const killed = async () => (await project.crashes()).filter(({ exit }) => exit.signal === 'SIGKILL');
    await waitFor('every end to be on record', async () => (await killed()).length === 60);
    expect(new Set((await killed()).map(({ subject }) => subject.name)).size).toBe(60);
    await project.ok('stop', '--all');
    expect((await project.status()).components.map(({ state }) => state)).toEqual(Array(60).fill('stopped'));
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  test.skipIf(!isRoot)('as pid 1 without an init it says what that means', async () => {
    await using project = new TestProject(ONE);
    const child = spawn(
      'unshare',
      ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, ENTRY, 'daemon'],
      { cwd: project.dir, stdio: 'ignore' },
    );
    const exited = closed(child);
    await waitFor('the warning', () => project.read('.keepwell/daemon.log').includes('as pid 1 without an init'));
    child.kill('SIGKILL');
    await exited;
  });

  test('children get the limit of open files that the user had, not the one Node gave itself', async () => {
    await using project = new TestProject(
      'components:\n  a: { process: { command: "ulimit -Sn; ulimit -Sc; sleep 1000", shell: true } }\n',
    );
    const child = spawn('sh', ['-c', `ulimit -Sn 777; "${process.execPath}" "${ENTRY}" up; true`], {
      cwd: project.dir,
      stdio: 'ignore',
    });
    await closed(child);
    await waitFor('the numbers', () => project.log('a').split('\n').length >= 3);
    expect(project.log('a').split('\n').slice(0, 2)).toEqual(['777', '0']);
  });
});
