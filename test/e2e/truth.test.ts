import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const HANDLED = `import logging, time

def price(order):
    return order['price']

try:
    price({})
except KeyError:
    logging.exception('skipped')
for job in range(10):
    print('job', job, 'done, all well', flush=True)
time.sleep(1000)
`;

describe('status, why, crashes and exit codes', () => {
  test('of a component that crashes and comes back', async () => {
    await using project = new TestProject(`components:
  worker: { process: { command: "echo about to fail; echo password=hunter22; exit 7", shell: true }, restart: { backoff: { initial: 1h, max: 1h } } }
`);
    await project.cli('up', '--no-wait');
    const worker = await project.until('worker', 'backing off', ({ state }) => state === 'backing-off');
    expect(worker).toMatchObject({
      health: 'unhealthy',
      ready: false,
      pid: null,
      last_exit: { code: 7, signal: null, oom: false },
    });
    expect(new Date(worker.next_attempt_at!).getTime()).toBeGreaterThan(Date.now());
    const why = JSON.parse(await project.ok('-o', 'json', 'why', 'worker')) as Record<string, unknown>;
    expect(why).toMatchObject({
      schema_version: 1,
      subject: { kind: 'component', name: 'worker' },
      exit: { code: 7 },
      rule: { name: 'backoff' },
      incident: 1,
      ticket: null,
    });
    expect(why['decision']).toMatch(/^restart in .* \(1 of 10 in 10 min\)$/);
    expect(why['log_tail']).toEqual(['about to fail', 'password=[redacted]']);
    const text = await project.ok('why', 'worker');
    expect(text).toContain('exit code 7');
    expect(text).toContain('about to fail');
    expect((await project.cli('status', '--exit-code')).code).not.toBe(0);
  });

  test('of one that gave up: up says so and ends with 1, status names the rule', async () => {
    await using project = new TestProject(`components:
  broken: { process: { command: [./no-such-program] } }
  final: { process: { command: "exit 78", shell: true }, restart: { never_on: [78] } }
`);
    const { code, stderr } = await project.cli('up');
    expect(code).toBe(1);
    expect(stderr).toMatch(/why (broken|final)/);
    await project.until('broken', 'given up', ({ state }) => state === 'gave-up');
    expect((await project.component('broken')).note).toContain('no-such-program');
    expect(await project.component('final')).toMatchObject({ state: 'gave-up', next_attempt_at: null });
    expect((await project.crashes()).filter(({ subject }) => subject.name === 'broken').length).toBe(3);
  });

  test('of a stopped daemon and a dead pid', async () => {
    await using project = new TestProject('components:\n  a: { process: { command: [sleep, "1000"] } }\n');
    const never = await project.cli('status');
    expect(never.code).not.toBe(70);
    await project.ok('up');
    const { daemon, components } = await project.status();
    kill(project.guardianPid()!);
    kill(daemon.pid!);
    kill(components[0]!.pid!);
    await waitFor('all of it to be dead', () => project.daemonPid() === null);
    await waitFor('the exit to be written', async () => (await project.component('a')).state === 'stopped');
    const after = await project.status();
    expect(after.daemon).toMatchObject({ running: false, pid: null });
    expect(after.components[0]).toMatchObject({
      state: 'stopped',
      pid: null,
      ready: false,
      last_exit: { signal: 'SIGKILL' },
    });
    expect((await project.cli('stop', 'a')).code).toBe(3);
    const why = await project.ok('why', 'a');
    expect(why).toContain('a died: killed by SIGKILL');
    expect(why).toMatch(/Crash: +not recorded yet/);
    expect(await project.ok('why')).toContain('a died: killed by SIGKILL');
  });

  test('of one that is fine: why says so, and that is no error', async () => {
    await using project = new TestProject('components:\n  a: { process: { command: [sleep, "1000"] } }\n');
    await project.ok('up');
    expect(await project.ok('why', 'a')).toMatch(/^a .*running.* and fine; no crash of it is on record$/m);
  });

  test('of one that got over an error and was killed later: the error is no cause', async () => {
    await using project = new TestProject(`components:
  w: { process: { command: [python3, -u, w.py] }, restart: { backoff: { initial: 1h, max: 1h } } }
  v: { process: { command: [python3, -u, w.py] }, restart: { backoff: { initial: 1h, max: 1h } } }
`);
    project.write('w.py', HANDLED);
    await project.ok('up');
    for (const name of ['w', 'v']) {
      await waitFor('its work', async () => (await project.ok('logs', name)).includes('job 9 done'));
      kill((await project.component(name)).pid!);
      await project.until(name, 'backing off', ({ state }) => state === 'backing-off');
    }
    expect(JSON.parse(await project.ok('-o', 'json', 'why', 'w'))).toMatchObject({
      error_type: null,
      root_cause: 'killed by SIGKILL',
      stack: [],
      earlier_error: { type: 'KeyError', lines_after: 10, related_files: ['w.py'] },
    });
    const text = await project.ok('why', 'w');
    expect(text).toMatch(/Earlier: +an error it had logged .* before.*: KeyError: 'price' in price \(w\.py:4\)/);
    expect(await project.ok('crashes')).not.toContain('KeyError');
    const incidents = await project.ok('incidents');
    expect(incidents).toContain('w: killed by SIGKILL');
    expect(incidents).toContain('v: killed by SIGKILL');
  });

  test('of a component that puts itself in the background', async () => {
    await using project = new TestProject(
      'components:\n  d: { process: { command: "setsid sh -c \'sleep 1000\' & sleep 0.2", shell: true } }\n',
    );
    await project.ok('up');
    const d = await project.until('d', 'daemonised', ({ condition }) => condition === 'daemonised');
    expect(d).toMatchObject({ state: 'running', restarts: 0 });
    expect(d.note).toContain('background');
    expect(project.processes().filter(({ command }) => command.startsWith('sleep 1000')).length).toBe(1);
    await project.ok('stop', 'd');
    expect(project.processes().some(({ command }) => command.startsWith('sleep 1000'))).toBe(false);
  });

  test('what a crashed run left behind is gone before the next run begins', async () => {
    await using project = new TestProject(`components:
  a: { process: { command: "setsid sleep 1000 & setsid sleep 1000 & sleep 1000 & wait", shell: true }, restart: { backoff: { initial: 0s } } }
`);
    await project.ok('up');
    const sleepers = () =>
      project
        .processes()
        .filter(({ command }) => command.startsWith('sleep 1000'))
        .map(({ pid }) => pid);
    const old = await waitFor('the grandchildren', () => (sleepers().length === 3 ? sleepers() : null));
    kill((await project.component('a')).pid!);
    await project.until('a', 'restarted', ({ restarts, state }) => restarts === 1 && state === 'running');
    await waitFor('the new grandchildren', () => sleepers().length === 3);
    expect(sleepers().some((pid) => old.includes(pid))).toBe(false);
  });

  test('one-shots complete, and completed counts as up', async () => {
    await using project = new TestProject(`components:
  migrate: { process: { command: "echo migrated; exit 0", shell: true }, restart: { policy: on-failure } }
  api: { process: { command: [sleep, "1000"] }, depends_on: { migrate: completed } }
`);
    await project.ok('up');
    expect((await project.component('migrate')).state).toBe('completed');
    expect((await project.cli('status', '--exit-code')).code).toBe(0);
    await project.ok('wait', 'migrate', '--for', 'completed');
  });
});

describe('mistakes on the command line', () => {
  const ONE = 'components:\n  api: { process: { command: [sleep, "1000"] } }\n';
  test.each([
    { args: ['status', '--nonsense'], code: 2, says: /nonsense/ },
    { args: ['statsu'], code: 2, says: /status/ },
    { args: ['stop'], code: 2, says: /--all/ },
    { args: ['-f', 'missing.yaml', 'status'], code: 2, says: /missing\.yaml/ },
    { args: ['up', 'apj'], code: 4, says: /api/ },
    { args: ['start', 'api'], code: 3, says: /keepwell up/ },
    { args: ['wait', 'api', '--for', 'nonsense'], code: 2, says: /ready/ },
    { args: ['wait', 'api', '--timeout', '100ms'], code: 5, says: /api/ },
    { args: ['crashes', '--last', '5'], code: 2, says: /5/ },
  ])('$args → $code', async ({ args, code, says }) => {
    await using project = new TestProject(ONE);
    const result = await project.cli(...args);
    expect(result.stderr).toMatch(says);
    expect(result.stderr).not.toMatch(/\n\s+at .*\.cjs/);
    expect(result.code).toBe(code);
    expect(result.stdout).toBe('');
  });

  test('wait gives up after its time with 5', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    expect((await project.cli('wait', 'api', '--for', 'stopped', '--timeout', '200ms')).code).toBe(5);
    await project.ok('wait', 'api', '--for', 'ready', '--timeout', '10s');
  });

  test('another project’s state directory is refused', async () => {
    await using one = new TestProject(ONE);
    await using two = new TestProject(ONE);
    await one.ok('up');
    const { code, stderr } = await two.cliWith({ KEEPWELL_HOME: one.home }, 'up');
    expect(code).toBe(2);
    expect(stderr).toContain('belongs to');
  });

  test('validate and schema', async () => {
    await using project = new TestProject(ONE);
    await project.ok('validate');
    expect(JSON.parse(await project.ok('schema'))).toMatchObject({ type: 'object' });
    project.configure('components:\n  api:\n    proces: { command: [x] }\ndashboard: { listn: 7070 }\n');
    const { code, stderr, stdout } = await project.cli('validate');
    expect(code).toBe(2);
    expect(stderr + stdout).toMatch(/keepwell\.yaml:3:5.*process/s);
    expect(stderr + stdout).toMatch(/keepwell\.yaml:4:14.*Did you mean "listen"/s);
  });
});

describe('a daemon that is killed when the next run was begun, and the crash is not explained yet', () => {
  const config = (name: string) => `components:
  ${name}:
    process: { command: "test -e died || { touch died; echo died of this; exit 7; }; echo all well; touch well; sleep 1000", shell: true }
    restart: { backoff: { initial: 0s, max: 0s } }
`;

  /** The crash is written down, and the next run was asked for: whether it begins is open, the launcher dies with the daemon. */
  async function killed(project: TestProject): Promise<void> {
    const daemon = project.start(['daemon'], { KEEPWELL_FAILPOINTS: 'evidence.before=crash' });
    expect(await once(daemon, 'exit')).toEqual([null, 'SIGKILL']);
  }

  test('its output is told by whoever asks, and by the next daemon, once', async () => {
    await using project = new TestProject(config('worker'));
    await killed(project);
    const told = { exit: { code: 7 }, log_tail: ['died of this'], rule: { name: 'backoff' } };
    expect(JSON.parse(await project.ok('-o', 'json', 'why', 'worker'))).toMatchObject({
      ...told,
      id: 0,
      incident: null,
    });
    await project.answered(project.start(['daemon']).pid!);
    await waitFor('the next run to write', () => existsSync(project.path('well')));
    expect(JSON.parse(await project.ok('-o', 'json', 'why', 'worker'))).toMatchObject({ ...told, id: 1, incident: 1 });
    expect(await project.crashes()).toHaveLength(1);
    expect(await project.component('worker')).toMatchObject({ state: 'running' });
  });

  test('it is recorded also when the configuration does not name the component any more', async () => {
    await using project = new TestProject(config('worker'));
    await killed(project);
    project.write('keepwell.yaml', config('other'));
    await project.answered(project.start(['daemon']).pid!);
    await waitFor('its run to be ended', async () => (await project.status()).components.length === 1);
    expect(await project.crashes()).toMatchObject([{ subject: { name: 'worker' }, exit: { code: 7 } }]);
  });
});
