/** Containers that others started, of a real Docker Engine; where no Engine can be made to say something, said by a stand-in. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import type { ContainerState, Engine, Inspection } from '../../../src/docker/ports.ts';
import { createContainerWatch } from '../../../src/docker/watch/watch.ts';
import { containerTarget } from '../../../src/drivers/external/container.ts';
import { type ContainerOptions, OUT_OF_MEMORY, type TestEngine, useEngine, whenTold } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { isThere } from '../process/workshop.ts';
import { plainRunner } from './commands.ts';
import { lookout } from './lookout.ts';

const need = useEngine();
const post = lookout();

const clientOf = ({ env }: TestEngine): Engine => createEngine({ env, clock: systemClock });
const watched = (name: string) => ({ target: { kind: 'container', name } }) as const;

/** A container that is watched, from the moment it was seen to be there. */
async function watching(
  docker: TestEngine,
  command: readonly string[],
  options: Omit<ContainerOptions, 'command'> = {},
) {
  const name = await docker.run({ ...options, command });
  const driver = post.now.driver({ engine: clientOf(docker) });
  const run = post.now.start(driver, watched(name));
  const { pid } = await run.until('started');
  return { name, driver, run, pid: pid ?? 0 };
}

test('a running container is there, with the pid of its process', async ({ skip }) => {
  const { run, pid } = await watching(need(skip), ['sleep', '300']);
  expect(isThere(pid)).toBe(true);
  await post.now.looks();
  expect(run.kinds).toEqual(['started']);
});

test('its exit code is known', async ({ skip }) => {
  const docker = need(skip);
  const { run, name } = await watching(docker, whenTold('exit 3'));
  await docker.tell(name);
  expect((await run.until('exited')).cause).toEqual({ kind: 'code', code: 3, ambiguous: false });
});

test('a kill is a signal, and no proof of a want of memory', async ({ skip }) => {
  const docker = need(skip);
  const { run, name } = await watching(docker, ['sleep', '300']);
  await docker.act(name, 'kill');
  expect((await run.until('exited')).cause).toEqual({ kind: 'signal', signal: 'SIGKILL', core: false, oom: false });
});

test('a want of memory is said by the Engine', async ({ skip }) => {
  const docker = need(skip);
  const { run, name } = await watching(docker, OUT_OF_MEMORY.command, OUT_OF_MEMORY);
  await docker.starve(name);
  expect((await run.until('exited')).cause).toEqual({ kind: 'signal', signal: 'SIGKILL', core: false, oom: true });
});

test('a paused container is not there', async ({ skip }) => {
  const docker = need(skip);
  const { run, name, driver } = await watching(docker, ['sleep', '300']);
  await docker.act(name, 'pause');
  expect(await run.why()).toBe(`container "${name}" is paused`);
  const again = post.now.start(driver, { ...watched(name), attempt: 'restart' });
  await post.now.looks();
  expect(again.kinds).toEqual([]);
  await docker.act(name, 'unpause');
  await again.until('started');
});

test('a container that was removed is not there', async ({ skip }) => {
  const docker = need(skip);
  const { run, name } = await watching(docker, ['sleep', '300']);
  await docker.remove(name);
  expect(await run.why()).toMatch(/SIGKILL|there is no container/); // seen before or after it was removed
});

test('a container that somebody restarted between two looks has ended in between', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  const clock = new FakeClock(); // the next look comes when the test says so
  const driver = post.now.driver({ engine: clientOf(docker), clock });
  const run = post.now.start(driver, watched(name));
  await run.until('started');
  await waitFor('the watch to wait', () => clock.sleeping === 1);
  await docker.act(name, 'restart?t=0');
  await clock.advance(1_000);
  expect(await run.why()).toBe(`container "${name}" was started anew by somebody else, so nobody saw its exit code`);
  await post.now.start(driver, watched(name)).until('started');
});

test('a container that the Engine restarts by itself has ended all the same', async ({ skip }) => {
  const docker = need(skip);
  const { run, name } = await watching(docker, whenTold('exit 4'), { restartPolicy: 'always' });
  await docker.tell(name);
  expect(await run.why()).toMatch(/"code":4|was started anew by somebody else/); // seen between two runs, or after
});

test.for(['signal', 'killTree'] as const)('%s touches no container', async (method, { skip }) => {
  const { run, driver, pid } = await watching(need(skip), ['sleep', '300']);
  if (method === 'signal') driver.signal(run.id, 'SIGKILL');
  else driver.killTree(run.id);
  expect(await run.why()).toBe('no longer watched');
  expect(isThere(pid)).toBe(true);
});

test('a container that does not exist yet is waited for', async ({ skip }) => {
  const docker = need(skip);
  const name = docker.newName();
  const run = post.now.start(post.now.driver({ engine: clientOf(docker) }), watched(name));
  await post.now.looks();
  await docker.create(name, { command: ['sleep', '300'] });
  await post.now.looks();
  expect(run.kinds).toEqual([]);
  await docker.act(name, 'start');
  await run.until('started');
});

test('taking over a container that has ended reports how it ended', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sh', '-c', 'exit 5'] });
  await waitFor(
    'it to end',
    async () => !(await docker.call('GET', `/containers/${name}/json`)).includes('"Running":true'),
  );
  const run = post.now.adopt(post.now.driver({ engine: clientOf(docker) }), watched(name).target);
  expect((await run.until('exited')).cause).toEqual({ kind: 'code', code: 5, ambiguous: false });
});

test('a container that ended is brought back by its command', async ({ skip }) => {
  const docker = need(skip);
  const name = docker.newName();
  await docker.create(name, { command: ['sleep', '300'] });
  // What "docker start NAME" does, on a machine without the docker command.
  const start = `require('http').request({ socketPath: '${docker.socketPath}', method: 'POST', path: '/containers/${name}/start' }).end()`;
  const run = post.now.start(post.now.driver({ engine: clientOf(docker) }), {
    ...watched(name),
    recover: [process.execPath, '-e', start],
  });
  expect(isThere((await run.until('started')).pid ?? 0)).toBe(true);
});

test('with events, its end and what its own health check says are told at once, and nobody looks every second', async ({
  skip,
}) => {
  const docker = need(skip);
  const name = docker.newName();
  await docker.call('POST', `/containers/create?name=${name}`, {
    Image: 'keepwell-test',
    Cmd: ['sleep', '300'],
    Healthcheck: { Test: ['CMD-SHELL', 'test ! -e /go'], Interval: 1e8, Timeout: 3e10, Retries: 1 },
    HostConfig: { NetworkMode: 'none' },
  });
  await docker.act(name, 'start');
  const engine = createEngine({ env: docker.env, clock: systemClock });
  const containers = createContainerWatch({ engine, clock: systemClock, log: silentLog, random: Math.random });
  const clock = new FakeClock(); // no look comes by itself
  const run = post.now.start(post.now.driver({ engine, containers, clock }), watched(name));
  await run.until('started');
  const said = () => run.reports.flatMap((report) => (report.kind === 'docker-health' ? [report.verdict.status] : []));
  await docker.tell(name);
  await waitFor('the verdict', () => said().includes('unhealthy'));
  await docker.act(name, 'kill');
  expect((await run.until('exited')).cause).toMatchObject({ signal: 'SIGKILL' });
  await containers.close();
});

const RUNNING: ContainerState = {
  health: null,
  id: 'f'.repeat(64),
  status: 'running',
  running: true,
  paused: false,
  restarting: false,
  pid: 7,
  startedAt: '2026-01-01T00:00:00Z',
  finishedAt: null,
  exitCode: 0,
  oomKilled: false,
  error: '',
};
const EXITED: ContainerState = { ...RUNNING, status: 'exited', running: false, pid: null };

describe('what the Engine says, and what it means', () => {
  const meaning = async (state: ContainerState): Promise<unknown> => {
    const engine: Engine = { inspect: () => Promise.resolve({ kind: 'found', state }) };
    const observation = await containerTarget('web', engine).look(null, new AbortController().signal);
    return observation.kind === 'gone' ? observation.cause : observation.kind;
  };
  const code = (number: number, ambiguous = false) => ({ kind: 'code', code: number, ambiguous });
  const signal = (name: string, oom = false) => ({ kind: 'signal', signal: name, core: false, oom });
  const unknown = (why: string) => ({ kind: 'unknown', why });

  test.each([
    ['running', RUNNING, 'there'],
    ['paused', { ...RUNNING, paused: true }, unknown('container "web" is paused')],
    ['waiting for its own restart policy', { ...RUNNING, restarting: true, exitCode: 1 }, code(1)],
    ['ended well', EXITED, code(0)],
    ['ended with a code', { ...EXITED, exitCode: 78 }, code(78)],
    ['killed', { ...EXITED, exitCode: 137 }, signal('SIGKILL')],
    ['killed for want of memory', { ...EXITED, exitCode: 137, oomKilled: true }, signal('SIGKILL', true)],
    ['ended well although a child of it was killed', { ...EXITED, oomKilled: true }, code(0)],
    ['terminated', { ...EXITED, exitCode: 143 }, signal('SIGTERM')],
    ['aborted', { ...EXITED, exitCode: 134 }, signal('SIGABRT')],
    ['interrupted, or exit 130', { ...EXITED, exitCode: 130 }, code(130, true)],
    ['a broken pipe, or exit 141', { ...EXITED, exitCode: 141 }, code(141, true)],
    ['a code that is no signal', { ...EXITED, exitCode: 255 }, code(255)],
    ['made, never started', { ...EXITED, status: 'created' }, unknown('container "web" was never started')],
    [
      'not to be started',
      { ...EXITED, status: 'created', exitCode: 127, error: 'no such file' },
      unknown('container "web" could not be started: no such file'),
    ],
  ])('%s', async (_what, state, expected) => {
    expect(await meaning(state)).toEqual(expected);
  });
});

describe('an Engine that cannot be asked', () => {
  /** A stand-in for the client: an Engine that comes and goes at once, and as often as a test likes. */
  class MoodyEngine implements Engine {
    answer: Inspection = { kind: 'unreachable', why: 'the Docker Engine is not running' };
    asked = 0;
    inspect(): Promise<Inspection> {
      this.asked += 1;
      return Promise.resolve(this.answer);
    }
    async heard(times = 4): Promise<void> {
      const enough = this.asked + times;
      await waitFor('some more questions', () => this.asked >= enough);
    }
  }

  test('says nothing about its containers but that nothing is known, however long it takes', async () => {
    const engine = new MoodyEngine();
    engine.answer = { kind: 'found', state: RUNNING };
    const driver = post.now.driver({ engine });
    const run = post.now.start(driver, watched('web'));
    await run.until('started');
    expect(driver.condition(run.id)).toBeNull();
    engine.answer = { kind: 'unreachable', why: 'the Docker Engine is not running' };
    await engine.heard(10);
    expect(run.kinds).toEqual(['started', 'held']);
    expect(driver.condition(run.id)).toBe('engine-unreachable');
    engine.answer = { kind: 'found', state: RUNNING };
    await engine.heard();
    expect(run.kinds).toEqual(['started', 'held', 'held']);
    expect(driver.condition(run.id)).toBeNull();
    engine.answer = { kind: 'missing' };
    expect(await run.why()).toBe('there is no container "web"');
  });

  test('is complained about once, however many containers it has', async () => {
    const engine = new MoodyEngine();
    const driver = post.now.driver({ engine });
    const runs = ['a', 'b', 'c'].map((name) => post.now.start(driver, watched(name)));
    await engine.heard(20);
    expect(post.now.log.lines).toMatchObject([
      { level: 'warn', data: { who: 'the Docker Engine', why: 'the Docker Engine is not running' } },
    ]);
    engine.answer = { kind: 'found', state: RUNNING };
    for (const run of runs) await run.until('started');
    expect(post.now.log.lines).toHaveLength(2);
  });

  test.each(['first', 'restart', 'quiet'] as const)('has no command run for it (attempt %s)', async (attempt) => {
    const engine = new MoodyEngine();
    const commands = plainRunner(post.now.clock);
    const run = post.now.start(post.now.driver({ engine, commands }), {
      ...watched('web'),
      attempt,
      recover: ['false'],
    });
    await engine.heard(10);
    expect(commands.commands).toEqual([]);
    expect(run.kinds).toEqual(['held']);
    engine.answer = { kind: 'missing' };
    expect(await run.why()).toBe('its recovery command failed with exit code 1');
  });

  test('does not make a recovery fail that it interrupts', async () => {
    const engine = new MoodyEngine();
    engine.answer = { kind: 'missing' };
    const clock = post.now.clock;
    const run = post.now.start(post.now.driver({ engine }), { ...watched('web'), recover: ['true'] });
    await waitFor('the command to end', () => post.now.readLog().includes('ended well'));
    engine.answer = { kind: 'unreachable', why: 'restarting' };
    const late = clock.now() + 40_000;
    await waitFor('40 s of its clock', () => clock.now() > late);
    expect(run.kinds).toEqual(['held']);
    engine.answer = { kind: 'found', state: RUNNING };
    await run.until('started');
  });

  test('does not keep a run from being ended', async () => {
    const driver = post.now.driver({ engine: new MoodyEngine() });
    const run = post.now.start(driver, watched('web'));
    await post.now.looks(2);
    driver.killTree(run.id);
    expect(await run.why()).toBe('no longer watched');
    expect(driver.condition(run.id)).toBeNull();
  });
});
