/** The watch over containers of a real Docker Engine. */
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { ContainerObservation } from '../../../src/docker/container-watch.ts';
import { judgeHealth } from '../../../src/docker/rules/judge.ts';
import { createContainerWatch } from '../../../src/docker/watch/watch.ts';
import { startEngine, TestEngine, useEngine } from '../../support/engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Watcher } from './watching.ts';
import { clientOf, made, never } from './workbench.ts';

const need = useEngine();

const watchOver = (docker: TestEngine, reconcileMs = 30_000) =>
  createContainerWatch({
    engine: clientOf(docker),
    clock: systemClock,
    log: silentLog,
    random: Math.random,
    reconcileMs,
  });

test('a container is watched by its short id, too: by events, and by a list when no event told of it', async ({
  skip,
}) => {
  const docker = need(skip);
  const engine = clientOf(docker);
  const deaf = {
    ...engine,
    events: (...[, signal]: Parameters<typeof engine.events>) =>
      engine.events({ since: null, opened: () => {}, onEvent: () => {} }, signal),
  };
  for (const each of [engine, deaf]) {
    const watch = createContainerWatch({
      engine: each,
      clock: systemClock,
      log: silentLog,
      random: Math.random,
      reconcileMs: 100,
    });
    const id = await made(engine, docker, { command: ['sleep', '300'] });
    await engine.start(id, never);
    using watcher = new Watcher(watch, id.slice(0, 12));
    await watcher.until('a container that runs', ({ running }) => running);
    await engine.kill(id, 'SIGKILL', never);
    await watcher.until('its end', ({ running }) => !running);
    await engine.remove(id, never);
    await watcher.gone();
    await watch.close();
  }
});

test('the life of a container is told as it happens, by its id', async ({ skip }) => {
  const docker = need(skip);
  const engine = clientOf(docker);
  const watch = watchOver(docker);
  const id = await made(engine, docker, {
    command: ['sh', '-c', 'sleep 300 & wait'],
    healthCheck: {
      command: ['sh', '-c', 'test ! -e /ill || exit 7'],
      times: { intervalMs: 100, timeoutMs: 60_000, startPeriodMs: 0, retries: 1 },
    },
  });
  using watcher = new Watcher(watch, id);
  await watcher.until('a container that was not started', ({ status }) => status === 'created');
  await engine.start(id, never);
  await watcher.until('a healthy container', ({ health }) => health?.status === 'healthy');
  await engine.exec(id, ['touch', '/ill'], never);
  await watcher.until('an ill container', ({ health }) => health?.status === 'unhealthy');
  await docker.act(id, 'pause');
  await watcher.until('a paused container', ({ paused }) => paused);
  await docker.act(id, 'unpause');
  const before = watcher.sights.length;
  await engine.kill(id, 'SIGKILL', never);
  const end = await watcher.until('its end', ({ running, exitCode }) => !running && exitCode === 137, before);
  await waitFor('its exit code to be told', () => watcher.sights.slice(before).some(({ died }) => died === 137));
  expect(end.observation).toMatchObject({ state: { status: 'exited', oomKilled: false } });
  await engine.remove(id, never);
  await watcher.gone();
  expect(watcher.blindness).toEqual([]);
  expect(watch.wasAway(0 as ReturnType<typeof systemClock.now>)).toBe(false);
  await watch.close();
});

test('a container is watched by its name, whoever has that name', async ({ skip }) => {
  const docker = need(skip);
  const watch = watchOver(docker);
  const [name, other] = [docker.newName(), docker.newName()];
  using watcher = new Watcher(watch, name);
  await watcher.gone();
  const first = await docker.create(name, { command: ['true'] });
  await watcher.until('the first', ({ id }) => id === first);
  const before = watcher.sights.length;
  await docker.act(name, `rename?name=${other}`);
  await watcher.gone(before);
  const second = await docker.create(name, { command: ['true'] });
  await watcher.until('the second', ({ id }) => id === second);
  await watch.close();
});

test('the exit code of a container that was removed at its end is told all the same', async ({ skip }) => {
  const docker = need(skip);
  const watch = watchOver(docker);
  const name = docker.newName();
  using watcher = new Watcher(watch, name);
  await watcher.gone();
  await docker.call('POST', `/containers/create?name=${name}`, {
    Image: 'keepwell-test',
    Cmd: ['sh', '-c', 'exit 9'],
    HostConfig: { AutoRemove: true, NetworkMode: 'none' },
  });
  await docker.act(name, 'start');
  await waitFor('its end to be told', () => watcher.sights.find(({ died }) => died === 9));
  await waitFor('it to be gone', () => watcher.last?.observation.kind === 'missing');
  await watch.close();
});

test('of an Engine that is shut down with its containers nothing is told, and afterwards that it was away', async ({
  skip,
}) => {
  need(skip);
  await using mine = await startEngine();
  const docker = new TestEngine(mine.socketPath);
  const watch = watchOver(docker);
  const name = await docker.run({ command: ['sh', '-c', 'trap "exit 3" TERM; sleep 300 & wait'] });
  using watcher = new Watcher(watch, name);
  await watcher.until('a running container', ({ running }) => running);
  const seenAt = systemClock.now();
  const told = watcher.sights.length;
  // Its containers die while it still tells of it, and can no longer be asked.
  await mine.end('SIGTERM');
  await waitFor('the watch to be blind', () => watch.blindness !== null);
  expect(
    watcher.sights.slice(told).filter(({ observation }) => observation.kind !== 'found' || !observation.state.running),
  ).toEqual([]);
  await mine.begin();
  await watcher.until('its end', ({ running }) => !running);
  expect(watcher.blindness.slice(0, 1)).toEqual([expect.stringContaining('Docker Engine')]);
  expect(watcher.blindness.at(-1)).toBeNull();
  expect(watch.wasAway(seenAt)).toBe(true);
  expect(watch.wasAway(systemClock.now())).toBe(false);
  await watch.close();
});

test('containers that outlive their Engine are seen as they were, and the health check that it forgot is not believed', async ({
  skip,
}) => {
  need(skip);
  await using mine = await startEngine({ liveRestore: true });
  const docker = new TestEngine(mine.socketPath);
  const engine = clientOf(docker);
  const watch = watchOver(docker, 200);
  const id = await made(engine, docker, {
    healthCheck: {
      command: ['true'],
      times: { intervalMs: 50, timeoutMs: 500, startPeriodMs: 0, retries: 1 },
    },
  });
  await engine.start(id, never);
  using watcher = new Watcher(watch, id);
  const before = await watcher.until('a healthy container', ({ health }) => health?.status === 'healthy');
  await mine.end('SIGKILL');
  await waitFor('the watch to be blind', () => watch.blindness !== null);
  const told = watcher.sights.length;
  await mine.begin();
  await watcher.until('it again', ({ running }) => running, told);
  expect(started(watcher.last?.observation)).toBe(started(before.observation));
  await waitFor('its health to be doubted', () => {
    const { observation } = watcher.last ?? {};
    if (observation?.kind !== 'found') return false;
    return judgeHealth(observation.state, observation.setup.healthCheck, systemClock.wallNow()).status === 'unknown';
  });
  expect(watcher.last?.observation).toMatchObject({ state: { health: { status: 'healthy' } } });
  await watch.close();
});

const started = (observation: ContainerObservation | undefined): string =>
  observation?.kind === 'found' ? observation.state.startedAt : '';
