/** Limits and users of components, from the configuration to what people are told. */
import { chmodSync, existsSync } from 'node:fs';
import { describe, expect, type TestContext, test } from 'vitest';
import { possibleHomes } from '../../src/drivers/process/limits/homes.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

function needsRoot({ skip }: TestContext): void {
  if (process.getuid?.() !== 0) skip('limits by cgroup and users of components need root');
}

describe('a component with limits', () => {
  test('that runs out of memory says so in status and why, with the limit', async (context) => {
    needsRoot(context);
    await using project = new TestProject(`components:
  leak:
    process: { command: "x=0123456789012345; while :; do x=$$x$$x; done", shell: true }
    limits: { memory: 20MB, nofile: 512 }
    restart: { backoff: { initial: 1h, max: 1h } }
`);
    await project.cli('up', '--no-wait');
    const leak = await project.until('leak', 'backing off', ({ state }) => state === 'backing-off');
    expect(leak.last_exit).toMatchObject({ signal: 'SIGKILL', oom: true });
    expect(leak.note).toContain('killed by SIGKILL (out of memory)');
    const why = await project.ok('why', 'leak');
    expect(why).toContain('all its processes together may use 19 MiB (limits.memory)');
    const [crash] = await project.crashes();
    expect(crash?.exit).toMatchObject({ signal: 'SIGKILL', oom: true });
  });

  test('is shown with what holds it to them, also by the daemon after the next, and leaves no cgroup', async (context) => {
    needsRoot(context);
    await using project = new TestProject(`components:
  api: { process: { command: [sleep, "1000"] }, limits: { memory: 64MiB, pids: 20, nofile: 512 } }
`);
    await project.ok('up');
    const before = await project.component('api');
    expect(before.limits.map(({ name, max }) => [name, max])).toEqual([
      ['memory', 64 * 2 ** 20],
      ['pids', 20],
      ['nofile', 512],
    ]);
    expect(await project.ok('status', '--verbose')).toMatch(
      /Limits: {3}memory 64 MiB \(cgroup v[12]\), pids 20 \(cgroup v[12]\), nofile 512/,
    );
    const daemon = project.daemonPid()!;
    kill(daemon);
    await waitFor('the next daemon', () => project.daemonPid() !== null && project.daemonPid() !== daemon);
    const { components } = await project.answered();
    expect(components[0]).toMatchObject({ pid: before.pid, adopted: true, limits: before.limits });
    project.configure('components: { api: { process: { command: [sleep, "1000"] }, limits: { pids: 30 } } }');
    await project.ok('up');
    const after = await project.component('api');
    expect(after.pid).not.toBe(before.pid);
    expect(after.limits).toMatchObject([{ name: 'pids', max: 30 }]);
    await project.ok('down');
    expect(possibleHomes(project.home).filter((path) => existsSync(path))).toEqual([]);
  });

  test('that cannot be kept here runs, and that is an event', async () => {
    await using project = new TestProject(
      'components: { api: { process: { command: [sleep, "1000"] }, limits: { pids: 20 } } }',
      { KEEPWELL_CGROUP: 'off' },
    );
    await project.ok('up');
    const events = await project.ok('events');
    expect(events).toContain('the limit pids 20 is not enforced: no cgroup can be used here');
    expect((await project.component('api')).limits).toMatchObject([{ name: 'pids', mechanism: null }]);
  });
});

describe('a component with a user', () => {
  test('runs and is probed as that user, and knows who it is', async (context) => {
    needsRoot(context);
    await using project = new TestProject(`components:
  api:
    process:
      command: 'echo "$$(id -un) $$HOME $$USER $$LOGNAME $$GREETING $$(umask)"; exec sleep 1000'
      shell: true
      user: nobody
      umask: "027"
      nice: 3
      env: { GREETING: hello, USER: somebody }
    readiness: { exec: { command: [sh, -c, 'test "$$(id -un)" = nobody'] } }
`);
    chmodSync(project.dir, 0o755); // it has to get there
    await project.ok('up');
    await waitFor('it to say who it is', () => project.log('api').includes('\n'));
    expect(project.log('api')).toMatch(/^nobody \/nonexistent somebody nobody hello 0?027\n$/);
  });

  test('that it may not have is told in one sentence, and given up soon', async (context) => {
    needsRoot(context);
    await using project = new TestProject(`components:
  typo: { process: { command: [sleep, "1000"], user: nobdy } }
  closed: { process: { command: [sleep, "1000"], user: nobody } }
`);
    await project.cli('up');
    // up ends as soon as it knows that one of them failed
    const words = async (name: string) =>
      (await project.until(name, 'tried', ({ last_exit }) => last_exit !== null)).last_exit?.spawn_error;
    expect(await words('typo')).toContain('there is no user "nobdy" on this machine');
    expect(await words('closed')).toContain(`the working directory ${project.dir} may not be entered by user "nobody"`);
    await waitFor('it to be given up', async () => (await project.component('closed')).state === 'gave-up');
  });
});
