/** The container driver with services that Docker Compose makes, on a real Engine. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import { componentName, runId, type WallMs } from '../../../src/base/pure/ids.ts';
import { createComposer } from '../../../src/compose/cli/project.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import { createContainerWatch } from '../../../src/docker/watch/watch.ts';
import { createContainerDriver } from '../../../src/drivers/container/container-driver.ts';
import type { ComposeLaunch, RunReport } from '../../../src/supervision/ports/driver.ts';
import { composeEnv, thingsOf, VERSIONS } from '../../support/compose.ts';
import { type TestEngine, useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const need = useEngine();
const NAME = componentName('cache');
const LOOP = 'trap "exit 3" TERM; echo "I am up"; while :; do sleep 0.05; done';
const services = (word: string) => `
services:
  cache:
    image: keepwell-test
    command: ["sh", "-c", ${JSON.stringify(LOOP)}]
    environment: { WORD: "${word}" }
    network_mode: none
    restart: always
    depends_on: [other]
  other: { image: keepwell-test, command: ["sleep", "1000000"], network_mode: none, init: true }
`;

function workshop(docker: TestEngine, variables: Readonly<Record<string, string>>) {
  const dir = tempDir();
  const project = basename(dir.path)
    .toLowerCase()
    .replace(/[^-_a-z0-9]/g, '');
  const file = dir.at('docker-compose.yml');
  const engine = createEngine({ env: docker.env, clock: systemClock });
  const watch = createContainerWatch({ engine, clock: systemClock, log: silentLog, random: Math.random });
  const driver = createContainerDriver({
    ...{ dir: dir.at('containers'), owner: `owner-${project}`, project: () => 'shop' },
    ...{
      engine,
      watch,
      clock: systemClock,
      log: silentLog,
      failpoints: noFailpoints,
      logEnd: () => 0,
      logGap: () => {},
    },
    compose: createComposer({ ...variables, ...docker.env }, systemClock),
  });
  /** Starts a run and keeps what is reported of it. */
  const start = (over: Partial<ComposeLaunch> = {}) => {
    const run = runId(NAME, Date.now() as WallMs, Math.random());
    const reports: RunReport[] = [];
    const place = { file, projectDir: dir.path, service: 'cache', cwd: dir.path, env: {}, envFiles: [] };
    const common = { run, component: NAME, logPath: dir.at('cache.log'), specHash: 'spec' };
    driver.start(
      { kind: 'compose', ...common, attempt: 'first', spec: { kind: 'compose', ...place }, ...over },
      (report) => reports.push(report),
    );
    const until = <K extends RunReport['kind']>(kind: K) =>
      waitFor(`${kind}, not ${JSON.stringify(reports)}`, () =>
        reports.find((report): report is Extract<RunReport, { kind: K }> => report.kind === kind),
      );
    const stop = async () => {
      driver.signal(run, 'SIGTERM');
      const { cause } = await until('exited');
      driver.release(run);
      return cause;
    };
    return { run, until, stop, idOf: () => driver.container(run)?.id };
  };
  const close = async () => {
    await driver.close();
    await watch.close();
    for (const { id } of await listed(docker, project)) await docker.remove(id);
    dir[Symbol.dispose]();
  };
  return { dir, file, project, driver, start, [Symbol.asyncDispose]: close };
}

async function listed(docker: TestEngine, project: string) {
  const rows = await docker.labelled(`com.docker.compose.project=${project}`);
  return rows.map(({ Id, Labels }) => ({ id: Id, service: Labels['com.docker.compose.service'] }));
}

test.for(VERSIONS)(
  'Docker Compose %s makes the container, which is kept, and made anew only where it must be',
  async (version, { skip }) => {
    const docker = need(skip);
    using programs = tempDir();
    await using shop = workshop(docker, composeEnv(version, programs.path, skip));
    const { start, file, project } = shop;
    writeFileSync(file, services('one'));

    const first = start();
    await first.until('started');
    const id = first.idOf()!;
    const other = (await listed(docker, project)).find(({ service }) => service === 'other')!.id;
    // Two who restart it would get in each other's way.
    await waitFor('its restart policy to be ours', async () => {
      const { HostConfig } = JSON.parse(await docker.call('GET', `/containers/${id}/json`)) as {
        HostConfig: { RestartPolicy: { Name: string } };
      };
      return HostConfig.RestartPolicy.Name === 'no';
    });
    expect(await first.stop()).toEqual({ kind: 'code', code: 3, ambiguous: false });

    // Compose has no part in a restart: the file may be broken by then.
    writeFileSync(file, 'services: [');
    const again = start({ attempt: 'restart', failures: 1 });
    await again.until('started');
    expect(again.idOf()).toBe(id);
    // Somebody else's start finds it running, and takes it over.
    writeFileSync(file, services('one'));
    const over = start();
    await over.until('started');
    expect(over.idOf()).toBe(id);
    await over.stop();
    await again.until('exited');
    shop.driver.release(again.run);

    // The same file is the same container; another file is another one.
    const same = start({ attempt: 'again' });
    await same.until('started');
    expect(same.idOf()).toBe(id);
    await same.stop();
    writeFileSync(file, services('two'));
    const changed = start({ attempt: 'again' });
    await changed.until('started');
    const second = changed.idOf();
    expect(second).not.toBe(id);
    await changed.stop();

    const anew = start({ attempt: 'restart', failures: 3 });
    await anew.until('started');
    expect(anew.idOf()).not.toBe(second);
    await anew.stop();
    const left = await listed(docker, project);
    expect(left.map(({ service }) => service).sort()).toEqual(['cache', 'other']);
    expect(left.map((one) => one.id)).toContain(other);
    expect((await thingsOf(docker, project)).length).toBe(2);
  },
);

test('without Docker Compose nothing is begun, and the message says what to install', async ({ skip }) => {
  const docker = need(skip);
  using programs = tempDir();
  await using shop = workshop(docker, { PATH: programs.path });
  writeFileSync(shop.file, services('one'));
  const { problem } = await shop.start().until('spawn-failed');
  expect(problem).toMatchObject({ code: 'compose', heals: false });
  expect(problem.message).toContain('need Docker Compose');
  expect(problem.message).toContain('Install it (Debian: docker-compose');
  expect(await listed(docker, shop.project)).toEqual([]);
});

test('a start that is called off while Compose is at work ends what Compose has started by then', async ({ skip }) => {
  const docker = need(skip);
  using programs = tempDir();
  const { PATH: real, ...variables } = composeEnv('1', programs.path, skip);
  // Does all that it is told, and then does not end.
  const hanging = `#!/bin/sh
"${real}/docker-compose" "$@" || exit
case "$*" in *" up "*) exec /bin/sleep 1000000 ;; esac
`;
  writeFileSync(programs.at('docker-compose'), hanging, { mode: 0o755 });
  await using shop = workshop(docker, { ...variables, PATH: programs.path });
  writeFileSync(shop.file, services('one'));
  const run = shop.start();
  const isRunning = async () => {
    const cache = (await listed(docker, shop.project)).find(({ service }) => service === 'cache');
    if (!cache) return false;
    return (JSON.parse(await docker.call('GET', `/containers/${cache.id}/json`)) as { State: { Running: boolean } })
      .State.Running;
  };
  await waitFor('the container to run', isRunning);
  await run.stop();
  expect(await isRunning()).toBe(false);
});
