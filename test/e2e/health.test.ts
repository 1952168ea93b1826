import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { HealthReport } from '../../src/checks/spec.ts';
import type { EventView } from '../../src/supervision/rules/views.ts';
import { freePort } from '../support/free-port.ts';
import { type CliResult, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

interface Answer extends HealthReport {
  readonly error?: { readonly code: string; readonly message: string };
}

const CHECKS = `
checks:
  flag:         { file_exists: flag, hint: "make the flag" }
  after_flag:   { needs: [flag], exec: { command: ["true"] } }
  orchestrator: { state_file: { path: state.json, idle_when_missing: true } }
`;
const COMPONENT = `
components:
  api: { process: { command: [sleep, "1000000"] } }
`;

/** One JSON document on stdout, whatever happened, and never a stack. */
function answerOf({ stdout, stderr }: CliResult): Answer {
  expect(`${stdout}${stderr}`).not.toMatch(/^\s+at .+:\d+:\d+/m);
  return JSON.parse(stdout) as Answer;
}
const said = ({ checks }: HealthReport): readonly string[] =>
  Object.entries(checks).map(([name, { status, message }]) => `${name} ${status}: ${message}`);

test('without a daemon: JSON, exit codes, one check, text, and nothing is left in the project', async () => {
  await using project = new TestProject(CHECKS);
  const bad = await project.cli('health');
  expect([bad.code, answerOf(bad).status]).toEqual([1, 'unhealthy']);
  expect(said(answerOf(bad))).toEqual([
    `flag failed: there is no ${project.path('flag')} - make the flag`,
    'after_flag skipped: flag failed',
    'orchestrator ok: idle',
  ]);
  expect(Object.keys(answerOf(bad).checks['flag']!)).toEqual(['status', 'message']);
  expect(Object.keys(answerOf(bad))).toEqual(['status', 'timestamp', 'checks']);

  writeFileSync(project.path('flag'), '');
  project.write('state.json', '{"status":"working","task":"3.2"}');
  const good = await project.cli('health');
  expect([good.code, good.stderr, answerOf(good).status]).toEqual([0, '', 'healthy']);
  expect(said(answerOf(good)).at(-1)).toBe('orchestrator ok: working on task 3.2');

  const one = await project.cli('health', '--check', 'after_flag');
  expect([one.code, Object.keys(answerOf(one).checks)]).toEqual([0, ['after_flag']]);
  const text = await project.cli('health', '-o', 'text', '--check', 'after_flag', '--with-deps');
  expect(text.stdout).toMatch(/^CHECK +STATUS +MESSAGE\nflag +ok +.*\nafter_flag +ok +exit code 0\nhealthy: 2 ok\n$/);
  expect(existsSync(project.home)).toBe(false);
});

test('what cannot be asked is still one JSON document: an unknown check, a broken file, no file', async () => {
  await using project = new TestProject(CHECKS);
  const unknown = await project.cli('health', '--check', 'flaq');
  expect([unknown.code, answerOf(unknown).status, answerOf(unknown).checks]).toEqual([2, 'unhealthy', {}]);
  expect(answerOf(unknown).error?.message).toContain('Did you mean "flag"?');
  expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 'NO_SUCH_CHECK' } });
  project.configure('checks: { a: { file_exits: x } }');
  const broken = await project.cli('health');
  expect([broken.code, answerOf(broken).error?.code]).toEqual([2, 'CONFIG_INVALID']);
  const nowhere = await project.cli('health', '-f', 'none.yaml');
  expect([nowhere.code, answerOf(nowhere).error?.code]).toEqual([2, 'CONFIG_MISSING']);
});

test('a command that is ended from outside ends what its checks have started', async () => {
  await using project = new TestProject(
    'checks: { slow: { exec: { command: [sh, -c, "echo $$$$ > pid; exec sleep 1000000"] }, timeout: 10m } }',
  );
  const child = project.start(['health'], { TMPDIR: project.dir });
  const ended = once(child, 'exit');
  const pid = await waitFor(
    'the command to run',
    () => existsSync(project.path('pid')) && Number(readFileSync(project.path('pid'), 'utf8')),
  );
  child.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(readdirSync(project.dir).filter((name) => name.startsWith('keepwell-health'))).toEqual([]);
});

test('what up says is up is healthy at once, also before its liveness is asked for the first time', async () => {
  const port = await freePort();
  await using project = new TestProject(`components:
  api:
    process: { command: [node, -e, "require('node:http').createServer((_, r) => r.end()).listen(${port}, '127.0.0.1')"] }
    startup: { tcp: ${port}, period: 100ms, failure_threshold: 600 }
    liveness: { http: { port: ${port} }, initial_delay: 10m }
`);
  await project.ok('up');
  const { code, stdout } = await project.cli('health');
  expect([code, said(JSON.parse(stdout) as HealthReport)]).toEqual([0, ['api ok: running and ready']]);
  expect((await project.cli('status', '--exit-code')).code).toBe(0);
});

test('status --exit-code and health agree: neither calls well what is never ready, or what nobody watches', async () => {
  await using project = new TestProject(`components:
  api: { process: { command: [sleep, "1000"] }, liveness: { exec: { command: ["true"] } } }
  unready: { process: { command: [sleep, "1000"] }, readiness: { exec: { command: ["false"] } } }
`);
  const codes = async (...names: readonly string[]) => [
    (await project.cli('status', '--exit-code', ...names)).code,
    (await project.cli('health', ...names.flatMap((name) => ['--check', name]))).code,
  ];
  await project.cli('up', 'api');
  await project.cli('up', 'unready', '--timeout', '1s');
  await project.until('unready', 'running', ({ state }) => state === 'running');
  expect(await codes('api')).toEqual([0, 0]);
  expect(await codes()).toEqual([1, 1]);
  process.kill(project.guardianPid()!, 'SIGKILL');
  process.kill(project.daemonPid()!, 'SIGKILL');
  await waitFor('the daemon to be gone', () => project.daemonPid() === null);
  expect(await codes('api')).toEqual([1, 1]);
  expect(await project.ok('status', 'api')).toMatch(/^api +running +unknown +unknown /m);
});

test('with a daemon it is asked there, without one and with --local from here; without checks about each component', async () => {
  await using project = new TestProject(`${COMPONENT}
checks:
  api:  { component: api }
  mine: { needs: [api], env_set: ONLY_HERE }
`);
  const down = await project.cliWith({ ONLY_HERE: '1' }, 'health');
  expect([down.code, said(answerOf(down))]).toEqual([
    1,
    ['api failed: stopped - run "keepwell up api"', 'mine skipped: api failed'],
  ]);
  await project.ok('up');
  const there = await project.cliWith({ ONLY_HERE: '1' }, 'health');
  expect([there.code, said(answerOf(there))]).toEqual([
    1,
    ['api ok: running and ready', 'mine failed: ONLY_HERE is not set in the environment of the daemon'],
  ]);
  expect((await project.cliWith({ ONLY_HERE: '1' }, 'health', '--check', 'mine', '--local')).code).toBe(0);
  expect((await project.cli('health', '--check', 'nobody')).code).toBe(2);

  project.configure(COMPONENT);
  await project.ok('reload');
  const implicit = await project.cli('health');
  expect([implicit.code, said(answerOf(implicit))]).toEqual([0, ['api ok: running and ready']]);
  await project.ok('stop', 'api');
  expect((await project.cli('health')).code).toBe(1);
});

test('on schedule the daemon keeps the results and tells of each change', async () => {
  await using project = new TestProject(`${CHECKS}\nhealth: { every: 200ms }`);
  await project.ok('up');
  const changes = async () => {
    const lines = (await project.ok('events', '-o', 'json')).split('\n').filter((line) => line !== '');
    const events = lines.map((line) => JSON.parse(line) as EventView);
    return events
      .filter(({ type }) => type === 'check.changed')
      .map(({ subject, data }) => `${subject.kind} ${subject.name} ${data['before']} ${data['status']}`);
  };
  await waitFor('the failure to be told', async () => (await changes()).length >= 2);
  writeFileSync(project.path('flag'), '');
  await waitFor('the recovery to be told', async () => (await changes()).length >= 4);
  expect(await changes()).toEqual([
    'check flag null failed',
    'check after_flag null skipped',
    'check flag failed ok',
    'check after_flag skipped ok',
  ]);
});

test('the library asks the same, with and without a daemon', async () => {
  await using project = new TestProject(`${COMPONENT}${CHECKS}`);
  const { checkDependencies, checkOrder, getHealth, Keepwell } = (await import(
    pathToFileURL(resolve('dist/lib/index.mjs')).href
  )) as typeof import('../../src/index.ts');
  const file = project.path('keepwell.yaml');
  expect(checkOrder(file)).toEqual(['flag', 'after_flag', 'orchestrator']);
  expect(checkDependencies(file)).toEqual({ flag: [], after_flag: ['flag'], orchestrator: [] });
  const alone = await getHealth({ cwd: project.dir });
  expect([alone.status, said(alone)[1]]).toEqual(['unhealthy', 'after_flag skipped: flag failed']);
  await expect(getHealth({ config: file, checks: ['flaq'] })).rejects.toMatchObject({ code: 'NO_SUCH_CHECK' });
  const slow = { checks: { slow: { exec: { command: ['sleep', '100'] } } } };
  const { checks } = await getHealth({ config: slow, cwd: project.dir, timeoutMs: 200 });
  expect(checks['slow']).toMatchObject({ status: 'failed', message: 'no answer within 200 ms' });

  await project.ok('up');
  await using keepwell = await Keepwell.connect({ cwd: project.dir });
  expect(said(await keepwell.health({ checks: ['orchestrator'] }))).toEqual(['orchestrator ok: idle']);
  expect((await getHealth({ cwd: project.dir, checks: ['orchestrator'] })).status).toBe('healthy');
});
