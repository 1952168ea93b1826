/** The container driver against a real Engine: whose containers it takes, and whose it does not. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import { componentName, type RunId, runId, type WallMs } from '../../../src/base/pure/ids.ts';
import { createComposer } from '../../../src/compose/cli/project.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import type { ActionResult, EngineClient } from '../../../src/docker/ports.ts';
import { createContainerWatch } from '../../../src/docker/watch/watch.ts';
import { createContainerDriver } from '../../../src/drivers/container/container-driver.ts';
import type { ContainerDriver, ContainerLaunch, RunReport } from '../../../src/supervision/ports/driver.ts';
import { NO_LIMITS } from '../../../src/supervision/spec.ts';
import { startEngine, TestEngine, useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const need = useEngine();
const NAME = componentName('web');
const SLEEP = ['sh', '-c', 'echo "I am up"; trap "exit 3" TERM; while :; do sleep 0.05; done'];

/** `over`: what is done otherwise than by the Engine. */
function workshop(docker: Pick<TestEngine, 'env'>, over: Partial<EngineClient> = {}) {
  const dir = tempDir();
  const owner = `owner-${process.pid}-${Math.random()}`;
  const engine = { ...createEngine({ env: docker.env, clock: systemClock }), ...over };
  const watch = createContainerWatch({ engine, clock: systemClock, log: silentLog, random: Math.random });
  /** As every daemon of the same home makes one. */
  const newDriver = () =>
    createContainerDriver({
      ...{ dir: dir.at('containers'), owner, project: () => 'shop' },
      ...{
        engine,
        watch,
        clock: systemClock,
        log: silentLog,
        failpoints: noFailpoints,
        logEnd: () => 0,
        logGap: () => {},
      },
      compose: createComposer({}, systemClock),
    });
  const driver = newDriver();
  const close = async () => {
    await driver.close();
    await watch.close();
    dir[Symbol.dispose]();
  };
  return { driver, newDriver, log: () => readFileSync(dir.at('web.log'), 'utf8'), dir, [Symbol.asyncDispose]: close };
}

const specOf = (containerName: string): ContainerLaunch['spec'] => ({
  ...{ kind: 'container', image: 'keepwell-test', pull: 'never', containerName, command: SLEEP },
  ...{ entrypoint: null, user: null, workdir: null, labels: {}, network: 'none', ports: [], volumes: [] },
  ...{ healthcheck: null, cleanup: 'keep', cwd: '/', env: {}, envFiles: [] },
});

/** Starts a run and keeps what is reported of it. */
function begin(driver: ContainerDriver, logPath: string, containerName: string, over: Partial<ContainerLaunch> = {}) {
  const run: RunId = runId(NAME, Date.now() as WallMs, Math.random());
  const reports: RunReport[] = [];
  driver.start(
    {
      ...{ kind: 'container', run, component: NAME, limits: NO_LIMITS, stopSignal: 'SIGTERM', attempt: 'first' },
      ...{ env: {}, logPath, specHash: 'spec', containerHash: 'hash' },
      spec: specOf(containerName),
      ...over,
    },
    (report) => reports.push(report),
  );
  const until = <K extends RunReport['kind']>(kind: K) =>
    waitFor(`${kind}, not ${JSON.stringify(reports)}`, () =>
      reports.find((report): report is Extract<RunReport, { kind: K }> => report.kind === kind),
    );
  const idOf = () => driver.container(run)?.id;
  const verdicts = () => reports.flatMap((report) => (report.kind === 'docker-health' ? [report.verdict.status] : []));
  return { run, until, idOf, verdicts };
}

test('a run takes the running container over, starts the one that ended again, and has it made anew when that does not help', async ({
  skip,
}) => {
  const docker = need(skip);
  await using shop = workshop(docker);
  const { driver } = shop;
  const name = docker.newName();
  const start = (over: Partial<ContainerLaunch> = {}) => begin(driver, shop.dir.at('web.log'), name, over);

  const first = start();
  await first.until('started');
  const id = first.idOf();
  driver.signal(first.run, 'SIGTERM');
  expect((await first.until('exited')).cause).toEqual({ kind: 'code', code: 3, ambiguous: false });
  driver.release(first.run);

  await docker.act(name, 'start'); // by hand, before the next run begins
  const second = start();
  const { pid } = await second.until('started');
  expect(second.idOf()).toBe(id);
  expect(driver.container(second.run)?.pid).toBe(pid);
  driver.killTree(second.run);
  expect((await second.until('exited')).cause).toMatchObject({ signal: 'SIGKILL' });
  driver.release(second.run);

  const third = start({ failures: 3 });
  await third.until('started');
  expect(third.idOf()).not.toBe(id);
  await waitFor('what it says', () => shop.log().match(/I am up/g)?.length === 3);
  const gone: string[] = [];
  driver.killTree(third.run);
  await third.until('exited');
  driver.release(third.run);
  driver.cleanUp(NAME, (container) => gone.push(container));
  await waitFor('it to be cleared away', () => gone.length === 1);
  expect(driver.found()).toEqual([]);
});

test('pull: always fetches the image whenever a start is asked for, and not after a crash; while it cannot be fetched the container is used as it is', async ({
  skip,
}) => {
  const docker = need(skip);
  let pulls = 0;
  let answer: ActionResult = { kind: 'done' };
  const pull = async () => {
    pulls++;
    return answer;
  };
  await using shop = workshop(docker, { pull });
  const { driver } = shop;
  const name = docker.newName();
  const spec = { ...specOf(name), pull: 'always' } as const;
  const runOnce = async (attempt: ContainerLaunch['attempt']) => {
    const begun = begin(driver, shop.dir.at('web.log'), name, { spec, attempt });
    await begun.until('started');
    return { ...begun, id: begun.idOf() };
  };
  const end = async ({ run, until }: Pick<Awaited<ReturnType<typeof runOnce>>, 'run' | 'until'>) => {
    driver.killTree(run);
    await until('exited');
    driver.release(run);
  };

  const first = await runOnce('first');
  expect(pulls).toBe(1);
  await end(first);
  const second = await runOnce('restart');
  expect([second.id, pulls]).toEqual([first.id, 1]);
  expect(await driver.isOutdated(second.run, spec)).toBe(false);
  expect(pulls).toBe(2);
  await end(second);
  answer = { kind: 'engine-fault', why: 'no such host' };
  const third = await runOnce('again');
  expect([third.id, pulls]).toEqual([first.id, 3]);
  await end(third);
});

test('a restart policy that it got while nobody was there is set back, and its removal is told as what it was', async ({
  skip,
}) => {
  const docker = need(skip);
  await using shop = workshop(docker);
  const first = begin(shop.driver, shop.dir.at('web.log'), docker.newName());
  await first.until('started');
  const id = first.idOf()!;
  await shop.driver.close();
  await docker.call('POST', `/containers/${id}/update`, { RestartPolicy: { Name: 'always' } });

  const reports: RunReport[] = [];
  const next = shop.newDriver();
  await using _ = { [Symbol.asyncDispose]: () => next.close() };
  next.adopt(first.run, (report) => reports.push(report));
  await waitFor('it to be kept by us alone', async () =>
    (await docker.call('GET', `/containers/${id}/json`)).includes('"RestartPolicy":{"Name":"no"'),
  );
  expect(reports[0]).toMatchObject({ kind: 'started' });
  await docker.remove(id);
  const exited = await waitFor('its end', () => reports.find(({ kind }) => kind === 'exited'));
  expect(exited).toMatchObject({ cause: { kind: 'unknown', why: 'its container was removed by somebody' } });
});

test('one that was paused is not unhealthy when it goes on, although the Engine says so', async ({ skip }) => {
  const docker = need(skip);
  await using shop = workshop(docker);
  const name = docker.newName();
  const times = { intervalMs: 2_000, timeoutMs: 60_000, startPeriodMs: 0, retries: 3 };
  const { until, verdicts } = begin(shop.driver, shop.dir.at('web.log'), name, {
    spec: { ...specOf(name), healthcheck: { command: ['true'], times } },
  });
  await until('started');
  const isHealthy = () => verdicts().at(-1) === 'healthy';
  await waitFor('its first check', isHealthy);
  await docker.act(name, 'pause');
  await waitFor('the pause to be seen', () => verdicts().at(-1) === 'unknown');
  await docker.act(name, 'unpause');
  await waitFor('a check that passes', isHealthy);
  expect(verdicts()).not.toContain('unhealthy');
});

test("a stranger's container of that name is not touched, and it is said whose it is", async ({ skip }) => {
  const docker = need(skip);
  await using shop = workshop(docker);
  const name = await docker.run({ command: ['sleep', '300'] });
  const { until } = begin(shop.driver, shop.dir.at('web.log'), name);
  const { problem } = await until('spawn-failed');
  expect(problem).toMatchObject({ code: 'name-taken', heals: false });
  expect(problem.message).toMatch(/image keepwell-test, running\), which was not made by Keepwell/);
  expect(await docker.call('GET', `/containers/${name}/json`)).toContain('"Running":true');
});

test.each(['banana', 'ssh://somewhere'])(
  'an address of the Engine that can never work (%s) is told at once, and not waited for',
  async (host) => {
    await using shop = workshop({ env: { DOCKER_HOST: host } });
    const run = begin(shop.driver, shop.dir.at('web.log'), 'nobody');
    expect((await run.until('spawn-failed')).problem).toMatchObject({
      heals: false,
      message: expect.stringContaining(`DOCKER_HOST is "${host}"`),
    });
  },
);

test('a start that is called off before the Engine answers is called off at once', async ({ skip }) => {
  await using shop = workshop(need(skip));
  const { run, until } = begin(shop.driver, shop.dir.at('web.log'), 'never-made');
  shop.driver.signal(run, 'SIGTERM');
  expect((await until('spawn-failed')).problem.code).toBe('cancelled');
});

test.for(['SIGTERM', 'SIGKILL'] as const)(
  'what ended with the Engine (%s) while no daemon was there is told as that, and what is killed afterwards is not',
  async (signal, { skip }) => {
    need(skip); // where there is one, there can be another
    await using own = await startEngine();
    const docker = new TestEngine(own.socketPath);
    await using shop = workshop(docker);
    const causeOf = async (run: RunId) => {
      const reports: RunReport[] = [];
      await using next = { driver: shop.newDriver(), [Symbol.asyncDispose]: () => next.driver.close() };
      next.driver.adopt(run, (report) => reports.push(report));
      const isExit = (report: RunReport) => report.kind === 'exited';
      return (await waitFor('its end', () => reports.find(isExit))).cause;
    };
    const name = docker.newName();
    const first = begin(shop.driver, shop.dir.at('web.log'), name);
    await first.until('started');
    await shop.driver.close();
    await own.end(signal);
    await own.begin();
    expect(await causeOf(first.run)).toMatchObject({ kind: 'engine' });

    const again = shop.newDriver();
    const second = begin(again, shop.dir.at('web.log'), name);
    await second.until('started');
    await again.close();
    await docker.act(name, 'kill');
    await docker.act(name, 'wait');
    expect(await causeOf(second.run)).toMatchObject({ kind: 'signal', signal: 'SIGKILL' });
  },
);
