/** Questions that are put inside a container, and what a container uses. One container for several facts: they are slow to make. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { componentName } from '../../../src/base/pure/ids.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import type { EngineClient } from '../../../src/docker/ports.ts';
import { inspectContainers } from '../../../src/drivers/container/inspect.ts';
import { Records } from '../../../src/drivers/container/record.ts';
import { createContainerSampler } from '../../../src/drivers/container/usage/sampler.ts';
import type { Sampler } from '../../../src/supervision/ports/sampler.ts';
import type { ContainerFacts } from '../../../src/supervision/rules/container-health.ts';
import type { ProbeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import type { ContainerSpec } from '../../../src/supervision/spec.ts';
import { run, spec } from '../../support/builders.ts';
import { useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answer, fakeEngine } from '../engine/fake-engine.ts';
import { never, open } from '../probes/probe-world.ts';

const engineFor = useEngine();

const CONTAINER: ContainerSpec = {
  kind: 'container',
  image: 'keepwell-test',
  pull: 'never',
  containerName: null,
  command: null,
  entrypoint: null,
  user: null,
  workdir: null,
  labels: {},
  network: null,
  ports: [],
  volumes: [],
  healthcheck: null,
  cleanup: 'keep',
  cwd: '/',
  env: {},
  envFiles: [],
};
const RUN = run('box~0mwidv1zw42acf0');
const GENEROUS_MS = 30_000;
const SHORT_MS = 300;

/** Asks inside the container with this id. */
function asking(engine: Pick<EngineClient, 'exec'>, id: string | null, env = {}) {
  const inside = { engine, containerOf: () => id };
  const environmentOf = () => ({ env });
  return (command: readonly string[], timeoutMs = GENEROUS_MS) => {
    const question: ProbeQuestion = { kind: 'exec', command, cwd: '/' };
    const target = { spec: spec('box', { driver: CONTAINER }), run: RUN };
    return open(question, { inside, environmentOf }, target).ask(timeoutMs, never);
  };
}

test('an exec probe of a container is answered inside it, and what it leaves is ended', async ({ skip }) => {
  const engine = engineFor(skip);
  const name = await engine.run({ command: ['sh', '-c', 'touch /inside; exec sleep 300'], env: ['COLOUR=red'] });
  const client = createEngine({ env: engine.env, clock: systemClock, answerWithinMs: null });
  const ask = asking(client, name, { TOKEN: 'hunter2-hunter2' });

  expect(await ask(['sh', '-c', 'until test -e /inside; do sleep 0.1; done; test $COLOUR = red'])).toEqual({
    outcome: 'pass',
    message: 'exit code 0',
  });
  expect(await ask(['sh', '-c', 'echo one; echo "refused hunter2-hunter2"; exit 3'])).toEqual({
    outcome: 'fail',
    message: 'exit code 3: refused [redacted]',
  });
  expect(await ask(['/no/such/program'])).toMatchObject({ outcome: 'fail' });
  // An Engine that is too busy to begin it in time says nothing about the container.
  const late = await waitFor('its time to be over', async () => {
    const said = await ask(['sleep', '299'], SHORT_MS);
    return said.outcome === 'inconclusive' ? null : said;
  });
  expect(late).toEqual({ outcome: 'fail', message: 'no answer within 300 ms' });
  expect(await ask(['sh', '-c', 'ps | grep -c "[s]leep 299"'])).toMatchObject({
    outcome: 'fail',
    message: 'exit code 1: 0',
  });

  await engine.act(name, 'pause');
  expect(await ask(['true'])).toMatchObject({ outcome: 'inconclusive' });
  await engine.act(name, 'unpause');
  await engine.act(name, 'kill');
  await waitFor('nothing to be run in it', async () => (await ask(['true'])).outcome === 'inconclusive');
});

test('a question that cannot be put because the Engine is away is no failure', async () => {
  const away = createEngine({ env: { DOCKER_HOST: 'unix:///no/such/docker.sock' }, clock: systemClock });
  expect(await asking(away, 'a')(['true'])).toMatchObject({ outcome: 'inconclusive' });
  expect(await asking(away, null)(['true'])).toEqual({
    outcome: 'inconclusive',
    message: 'its container is not known yet',
  });
});

test.each([
  ['at all', ''],
  ['when the command is to begin', answer('201 Created', '{"Id":"abc"}')],
])('a question that the Engine does not answer %s, because it hangs, is no failure', async (_when, created) => {
  await using fake = await fakeEngine((socket, request) => {
    if (created !== '' && request.includes('/containers/')) socket.end(created);
  });
  const hanging = createEngine({ env: { DOCKER_HOST: `unix://${fake.socketPath}` }, clock: systemClock });
  expect(await asking(hanging, 'a')(['true'], SHORT_MS)).toEqual({
    outcome: 'inconclusive',
    message: 'the Docker Engine did not answer in time',
  });
});

const NOTHING: Sampler = { sample: () => Promise.resolve(null), forget: () => {} };

test('what a container uses is read from the kernel, and agrees with what the Engine says', async ({ skip }) => {
  const engine = engineFor(skip);
  const command = ['sh', '-c', 'sleep 301 & sleep 302 & while :; do :; done & exec sleep 300'];
  const name = await engine.run({ command, memoryBytes: 64 * 2 ** 20 });
  const client = createEngine({ env: engine.env, clock: systemClock });
  const found = await client.inspect(name, never);
  if (found.kind !== 'found') throw new Error('it is not there');
  const { id, pid } = found.state;
  const facts = (over: Partial<ContainerFacts> = {}): ContainerFacts => ({
    ...{ id, name, image: 'keepwell-test', isOutdated: false, pid, ports: [], networks: [] },
    health: { status: 'none', reason: '' },
    ...over,
  });
  let asked = 0;
  const counting: Pick<EngineClient, 'stats'> = {
    stats: (...args) => {
      asked++;
      return client.stats(...args);
    },
  };
  const sampler = (over?: Partial<ContainerFacts>) =>
    createContainerSampler({ engine: counting, clock: systemClock, factsOf: () => facts(over), others: NOTHING });

  const local = sampler();
  await waitFor('its four processes', async () => (await local.sample(RUN, true))?.processes === 4);
  const first = await local.sample(RUN, true);
  await waitFor('more CPU time', async () => (await local.sample(RUN, true))!.cpuMs > first!.cpuMs);
  expect(asked).toBe(0);

  // As from another machine: the process the Engine names is none of this one's. Nobody waits for the Engine's answer.
  const far = sampler({ pid: process.pid });
  expect(await far.sample(RUN, true)).toBeNull();
  const remote = await waitFor('what the Engine says', () => far.sample(RUN, true));
  expect(asked).toBeGreaterThan(0);
  const again = await local.sample(RUN, true);
  expect(remote).toMatchObject({ processes: 4, fds: null });
  expect(remote.cpuMs).toBeGreaterThanOrEqual(first!.cpuMs);
  expect(remote.cpuMs).toBeLessThanOrEqual(again!.cpuMs);
  expect(Math.abs(remote.memoryBytes - again!.memoryBytes)).toBeLessThan(8 * 2 ** 20);

  await engine.act(name, 'kill');
  await waitFor('nothing to be there', async () => (await local.sample(RUN, true)) === null);
});

test('an Engine that does not answer is not asked by one container after the other', async () => {
  let asked = 0;
  const engine: Pick<EngineClient, 'stats'> = {
    stats: () => {
      asked++;
      return Promise.resolve({ kind: 'unreachable', why: 'gone' });
    },
  };
  const health = { status: 'none', reason: '' } as const;
  const facts = {
    id: 'f'.repeat(64),
    name: 'a',
    image: 'a',
    isOutdated: false,
    pid: process.pid,
    ports: [],
    networks: [],
    health,
  };
  const sampler = createContainerSampler({ engine, clock: systemClock, factsOf: () => facts, others: NOTHING });
  for (const name of ['a', 'b', 'c']) {
    expect(await sampler.sample(run(`${name}~0mwidv1zw42acf0`), false)).toBeNull();
    await setImmediate();
  }
  expect(asked).toBe(1);
});

test('without a daemon a container is looked at through the Engine, and never taken for dead when that is away', async ({
  skip,
}) => {
  const engine = engineFor(skip);
  const name = await engine.run({ command: ['sleep', '300'] });
  const client = createEngine({ env: engine.env, clock: systemClock });
  const found = await client.inspect(name, never);
  if (found.kind !== 'found') throw new Error('it is not there');
  using dir = tempDir();
  const record = {
    v: 1,
    run: RUN,
    component: componentName('box'),
    boot_id: systemClock.bootId,
    spec_hash: 'a',
  } as const;
  new Records(dir.path).write({
    ...record,
    ...{ container_hash: 'b', log: '/x', limits: [], before: null },
    ...{ container: found.state.id, started_at: found.state.startedAt },
  });
  const look = async (engine: EngineClient = client) =>
    (await inspectContainers({ dir: dir.path, engine, clock: systemClock }))[0]!;

  expect(await look()).toMatchObject({
    alive: true,
    pid: found.state.pid,
    facts: { name, health: { status: 'none' } },
  });
  const away = createEngine({ env: { DOCKER_HOST: 'unix:///no/such/docker.sock' }, clock: systemClock });
  expect(await look(away)).toMatchObject({
    alive: false,
    exit: null,
    unreachable: expect.stringContaining('/no/such'),
  });
  await engine.act(name, 'kill');
  await waitFor('its end', async () => !(await look()).alive);
  expect(await look()).toMatchObject({ exit: { kind: 'signal', signal: 'SIGKILL', oom: false }, unreachable: null });
  expect((await look()).exitAt).toBeGreaterThan(0);
  await engine.remove(name);
  expect(await look()).toMatchObject({ exit: { kind: 'unknown', why: 'its container is gone' }, unreachable: null });
});
