/** keepwell simulate-crash on everything that the built program runs: processes with limits, containers, compose services, agents. */
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { IncidentsView } from '../../src/incidents/rules/view.ts';
import type { TicketsView } from '../../src/incidents/tickets/rules/view.ts';
import { composeEnv, thingsOf } from '../support/compose.ts';
import { type TestEngine, useEngine } from '../support/engine.ts';
import { kill, TestProject } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const engineOf = useEngine();

const BEAT = '/dev/shm/beat';
/** In YAML, where a dollar is written twice. What beats is a child: an end or a stop of the first process alone does not reach it. */
const BEATING = `[sh, -c, 'while :; do touch ${BEAT}; sleep 0.1; done']`;
/** So long that nobody is taken for hanging whose turn does not come for a while on a busy machine. */
const ALIVE = `test $$(( $$(date +%s) - $$(stat -c %Y ${BEAT}) )) -lt 6`;
const QUICK = 'restart: { backoff: { initial: 10ms } }, stop: { grace: 100ms }';

const COMPOSE = `
services:
  beating:
    image: keepwell-test
    init: true
    network_mode: none
    command: ${BEATING}
    healthcheck: { test: "${ALIVE}", interval: 1s, timeout: 5s, retries: 1 }
`;

const CONFIG = (project: string) => `
name: ${project}
components:
  bound: { process: { command: [sleep, "1000"] }, limits: { memory: 16MiB }, ${QUICK} }
  listens: { process: { command: [sleep, "1000"] }, liveness: { pid: {} }, ${QUICK} }
  box: { container: { image: keepwell-test, command: [sleep, "1000"], network: none }, ${QUICK} }
  sick:
    container:
      image: keepwell-test
      command: ${BEATING}
      network: none
      healthcheck: { command: [sh, -c, '${ALIVE}'], period: 500ms, timeout: 5s, failure_threshold: 1 }
    restart: { backoff: { initial: 10ms } }
    stop: { grace: 100ms }
  served: { compose: { file: docker-compose.yml, service: beating }, ${QUICK} }
agents:
  every: 500ms
  types:
    tight:
      command: [sleep, "1000"]
      limits: { memory: 16MiB }
      backoff: { initial: 10ms, max: 10ms }
tickets:
  after_crashes: 1
  trackers: [{ local: { dir: tickets } }, { command: { command: [sh, -c, "cat >>outside"] } }]
`;

function world(engine: TestEngine, skip: (note: string) => never) {
  const name = `simulated-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const bin = tempDir();
  const compose = composeEnv('2', bin.path, skip);
  const path = `${compose['PATH']}:${process.env['PATH']}`;
  const project = new TestProject(CONFIG(name), { ...compose, ...engine.env, PATH: path, COMPOSE_PROJECT_NAME: name });
  project.write('docker-compose.yml', COMPOSE);
  return {
    project,
    [Symbol.asyncDispose]: async () => {
      await project[Symbol.asyncDispose]();
      bin[Symbol.dispose]();
      for (const { Id } of await engine.labelled(`keepwell.project=${name}`)) await engine.remove(Id);
      for (const thing of await thingsOf(engine, name)) await engine.remove(thing.replace('container /', ''));
    },
  };
}

const filesIn = (dir: string) => (existsSync(dir) ? readdirSync(dir) : []);
const simulate = (project: TestProject, ...args: string[]) => project.ok('simulate-crash', ...args);
const json = async <T>(project: TestProject, ...args: string[]) =>
  JSON.parse(await project.ok('-o', 'json', ...args)) as T;

test('every kind does what it says to whatever can be crashed so, also when the daemon is killed meanwhile', async ({
  skip,
}) => {
  const engine = engineOf(skip);
  if (process.getuid?.() !== 0) skip('limits by cgroup need root');
  await using it = world(engine, skip);
  const { project } = it;
  await project.ok('up');
  const { daemon } = await project.status();
  const first = await project.component('bound');
  await simulate(project, '--component', 'sick', '--kind', 'hang');
  await simulate(project, '--component', 'served', '--kind', 'hang');
  await simulate(project, '--component', 'box', '--kind', 'signal');
  await simulate(project, '--agent', 'tight', '--kind', 'oom');
  await simulate(project, '--component', 'bound', '--kind', 'oom');
  await waitFor('the stand-in to run', async () => (await project.component('bound')).run_id !== first.run_id);
  kill(daemon.pid!);

  const all = await waitFor('all crashes', async () => {
    const crashes = await project.crashes();
    return crashes.length >= 8 ? crashes : null;
  });
  for (const crash of all) expect(crash.root_cause).toMatch(/^simulated with "keepwell simulate-crash"/);
  const exitsOf = (name: string) => all.filter(({ subject }) => subject.name === name).map(({ exit }) => exit);
  const health = expect.stringMatching(/^health check failed/);
  expect(exitsOf('bound')).toMatchObject([{ oom: true }]);
  expect(exitsOf('tight')).toMatchObject(Array(4).fill({ oom: true }));
  expect(exitsOf('box')).toMatchObject([{ signal: 'SIGKILL' }]);
  expect(exitsOf('sick')).toMatchObject([{ unhealthy: health }]);
  expect(exitsOf('served')).toMatchObject([{ unhealthy: health }]);
  for (const name of ['bound', 'box', 'sick', 'served']) await project.until(name, 'back', ({ ready }) => ready);

  const { tickets } = await json<TicketsView>(project, 'tickets');
  expect(tickets).toHaveLength(5);
  for (const { title } of tickets) expect(title).toMatch(/^simulated: /);
  await waitFor('the files', () =>
    tickets.every(({ number }) => filesIn(project.path('tickets')).some((file) => file.startsWith(number))),
  );
  expect(project.read('outside')).toBe('');
  const ofAgent = async () => {
    const { incidents } = await json<IncidentsView>(project, 'incidents', '--all');
    return incidents.find(({ subject }) => subject.kind === 'agent');
  };
  await waitFor(
    'the rehearsed task, which nobody will finish, to be over',
    async () => (await ofAgent())?.state === 'resolved',
  );

  const refusal = async (...args: string[]) => {
    const { code, stderr } = await project.cli('simulate-crash', ...args);
    return `${code} ${stderr}`;
  };
  expect(await refusal('--component', 'box', '--kind', 'oom')).toMatch(
    /^1 .*cannot be replaced.*\n {2}Use --kind signal\. /,
  );
  expect(await refusal('--component', 'served', '--kind', 'exit')).toMatch(/Use --kind signal or --kind hang\. /);
  expect(await refusal('--component', 'box', '--kind', 'hang')).toMatch(/^1 .*nothing would notice/);
  expect(await refusal('--component', 'listens', '--kind', 'hang')).toMatch(/a liveness probe of another kind/);
  expect(await refusal('box')).toMatch(/^2 .*Write: keepwell simulate-crash --component box/);
});

test('--notify tells trackers outside, also about what was rehearsed quietly before', async () => {
  await using project = new TestProject(`
components: { api: { process: { command: [sleep, "1000"] }, ${QUICK} } }
tickets: { after_crashes: 1, trackers: [{ local: { dir: tickets } }, { command: { command: [sh, -c, "cat >>outside"] } }] }
`);
  await project.ok('up');
  const crashed = async (count: number) => {
    await waitFor('the crash', async () => (await project.crashes()).length === count);
    await project.until('api', 'back', ({ ready }) => ready);
  };
  await simulate(project, '--component', 'api', '--kind', 'signal');
  await crashed(1);
  await simulate(project, '--component', 'api', '--kind', 'signal', '--notify');
  await crashed(2);
  await waitFor('the tracker to be told', () => project.read('outside') !== '');
  expect(JSON.parse(project.read('outside'))).toMatchObject({ action: 'create', ticket: { number: 'BUG-002' } });
});
