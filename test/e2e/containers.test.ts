/** Containers under the built program and a real Engine: what becomes of them when they, the daemon or the Engine go wrong. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { ComponentView } from '../../src/supervision/rules/views.ts';
import { OUT_OF_MEMORY, type TestEngine, useEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const engineOf = useEngine();

/** Counts aloud and ends when asked to. In YAML, where a dollar is written twice. */
const COUNTER = `[sh, -c, 'trap "exit 0" TERM; i=0; while :; do i=$$((i+1)); echo "line $$i"; sleep 0.05; done']`;
/** Gone with every start, because it is in memory. */
const SICK = '/dev/shm/sick';
const check = (command: string) =>
  `healthcheck: { command: [sh, -c, '${command}'], period: 100ms, timeout: 10s, failure_threshold: 1 }`;

const CONFIG = `
name: kept
components:
  counter:
    container: { image: keepwell-test, command: ${COUNTER}, network: none }
    restart: { backoff: { initial: 10ms } }
  weak:
    container:
      image: keepwell-test
      command: ${COUNTER}
      network: none
      ${check(`test ! -e ${SICK} || { echo it is sick; exit 1; }`)}
    restart: { backoff: { initial: 10ms } }
  hungry:
    container: { image: keepwell-test, command: ${JSON.stringify(OUT_OF_MEMORY.command)}, network: none }
    limits: { memory: 16MiB }
    restart: { policy: never }
  doomed:
    container:
      image: keepwell-test
      command: ${COUNTER}
      network: none
      ${check('echo it is doomed; exit 1')}
    restart: { backoff: { initial: 10ms }, limit: { max: 1, within: 10m } }
    cleanup: remove
`;

/** The containers of a project in this file, none of which is left after the block. */
function containersIn(docker: TestEngine, project: 'kept' | 'points') {
  const label = `keepwell.project=${project}`;
  const of = (component: string) => docker.labelled(label, `keepwell.component=${component}`);
  const clear = async () => {
    for (const { Id } of await docker.labelled(label)) await docker.remove(Id);
  };
  return { of, clear, [Symbol.asyncDispose]: clear };
}

async function inside(docker: TestEngine, id: string, command: readonly string[]): Promise<void> {
  const made = await docker.call('POST', `/containers/${id}/exec`, { Cmd: command });
  await docker.call('POST', `/exec/${(JSON.parse(made) as { Id: string }).Id}/start`, { Detach: true });
}

const isUp = ({ state, health }: ComponentView) => state === 'running' && health === 'healthy';
/** Up again, in a run that is not this one. */
const isBack = (before: ComponentView) => (now: ComponentView) => isUp(now) && now.run_id !== before.run_id;

/** Every line of every start of the counter, each once and in order. */
function expectWhole(log: string): void {
  const numbers = log
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(/^line (\d+)$/.exec(line)?.[1]));
  const wrong = numbers.filter((number, index) => number !== 1 && number !== (numbers[index - 1] ?? 0) + 1);
  expect(wrong).toEqual([]);
}

test('containers are begun, brought back, given up and cleaned up, and each death is told as it was', async ({
  skip,
}) => {
  const docker = engineOf(skip);
  await using containers = containersIn(docker, 'kept');
  await using project = new TestProject(CONFIG, docker.env);
  await project.ok('up', '--no-wait');

  const doomed = await project.until('doomed', 'given up', ({ state }) => state === 'gave-up');
  expect(doomed.last_exit?.unhealthy).toMatch(/health check failed.*it is doomed/);
  await waitFor('what gave up to be removed', async () => (await containers.of('doomed')).length === 0);
  expect(await project.ok('events')).toMatch(/doomed.*its container was removed/);

  const [hungry] = await waitFor('the hungry one', () => containers.of('hungry'));
  await docker.starve(hungry!.Id);
  const starved = await project.until('hungry', 'given up', ({ state }) => state === 'gave-up');
  expect(starved.last_exit).toMatchObject({ signal: 'SIGKILL', oom: true });
  expect(await containers.of('hungry')).toHaveLength(1);

  const weak = await project.until('weak', 'healthy', isUp);
  const [body] = await containers.of('weak');
  await inside(docker, body!.Id, ['touch', SICK]);
  const healed = await project.until('weak', 'healthy again', isBack(weak));
  expect(healed.last_restart?.reason).toMatch(/health check failed.*it is sick/);
  expect((await containers.of('weak')).map(({ Id }) => Id)).toEqual([body!.Id]);

  const counter = await project.until('counter', 'up', isUp);
  const [first] = await containers.of('counter');
  await docker.act(first!.Id, 'kill');
  const again = await project.until('counter', 'up again', isBack(counter));
  expect(again.last_exit).toMatchObject({ signal: 'SIGKILL', oom: false });
  await docker.act(first!.Id, 'restart?t=0');
  const later = await project.until('counter', 'up after somebody restarted it', isBack(again));
  expect((await containers.of('counter')).map(({ Id }) => Id)).toEqual([first!.Id]);

  process.kill(project.daemonPid()!, 'SIGKILL');
  await project.answered();
  const adopted = await project.until('counter', 'adopted', (view) => view.adopted);
  expect(adopted.run_id).toBe(later.run_id);
  expect(adopted.restarts).toBe(later.restarts);

  await docker.remove(first!.Id);
  await project.until('counter', 'made anew', isBack(later));
  const [second] = await containers.of('counter');
  expect(second!.Id).not.toBe(first!.Id);

  await project.ok('down');
  expect((await containers.of('counter')).map(({ State }) => State)).toEqual(['exited']);
  await project.ok('up', 'counter');
  expect(await containers.of('counter')).toMatchObject([{ Id: second!.Id, State: 'running' }]);
  expectWhole(project.log('counter'));

  project.configure('name: kept\ncomponents:\n  other: { process: { command: [sleep, "1000"] } }\n');
  await project.ok('reload');
  await waitFor('what is no longer wanted to be gone', async () => (await containers.of('counter')).length === 0);
});

const KEPT = (version: number) => `
name: points
components:
  web:
    container: { image: keepwell-test, command: ${COUNTER}, network: none, env: { VERSION: "${version}" } }
    restart: { backoff: { initial: 10ms }, limit: { max: 100, within: 10m } }
`;

/** A daemon in the foreground, killed when the block ends. */
function startDaemon(project: TestProject, env: Readonly<Record<string, string>> = {}) {
  const daemon = project.start(['daemon'], env);
  const ended = once(daemon, 'exit');
  const kill = async () => {
    daemon.kill('SIGKILL');
    await ended;
  };
  return { ended, [Symbol.asyncDispose]: kill };
}

test('a daemon that dies at any step leaves one container behind for the next one, and its log whole', async ({
  skip,
}) => {
  const docker = engineOf(skip);
  await using containers = containersIn(docker, 'points');
  await using project = new TestProject(KEPT(1), docker.env);
  const states = async () => (await containers.of('web')).map(({ State }) => State);
  const settled = (state: string) => waitFor(`one container, ${state}`, async () => (await states()).join() === state);
  const diesAt = async (point: string, work = async (): Promise<unknown> => null) => {
    await using daemon = startDaemon(project, { KEEPWELL_FAILPOINTS: `container.${point}=crash` });
    await work();
    expect(await daemon.ended, point).toEqual([null, 'SIGKILL']);
  };
  {
    await using _daemon = startDaemon(project);
    await project.answered();
    await project.ok('up');
  }
  for (const point of ['record-written', 'before-create', 'after-create', 'before-start', 'after-start']) {
    await containers.clear();
    await diesAt(point);
    await using _daemon = startDaemon(project);
    await settled('running');
  }
  project.configure(KEPT(2));
  await diesAt('before-remove');
  await diesAt('before-kill', async () => {
    await project.answered();
    await settled('running');
    await project.cli('stop', 'web'); // nobody is left to answer
  });
  await using _daemon = startDaemon(project);
  await settled('exited');
  await project.answered();
  expect(await project.component('web')).toMatchObject({ state: 'stopped', desired: 'stopped' });
  expectWhole(project.log('web'));
});
