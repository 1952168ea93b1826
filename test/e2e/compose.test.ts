/** A service of a compose file as a component of a daemon, on a real Docker Engine. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composeEnv, thingsOf } from '../support/compose.ts';
import { useEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const engineOf = useEngine();

const COMPOSE = `
services:
  redis: { image: keepwell-test, init: true, network_mode: none, command: ["sleep", "1000000"], restart: always }
`;
const IDLE = '  idle: { process: { command: [/bin/sleep, "1000"] } }\n';
const CACHE = '  cache: { compose: { file: docker-compose.yml, service: redis } }\n';

test('a compose service that a reload no longer finds is stopped, left to Compose, and taken up again when it is back', async ({
  skip,
}) => {
  const engine = engineOf(skip);
  await using project = new TestProject(`components:\n${IDLE}${CACHE}`);
  const name = `removed-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  project.write('docker-compose.yml', COMPOSE);
  const env = { ...composeEnv('2', project.dir, skip), ...engine.env, COMPOSE_PROJECT_NAME: name };
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await project.cliWith(env, ...args);
    expect(code, `${args.join(' ')}: ${stdout}${stderr}`).toBe(0);
  };
  const container = async () => {
    const [found] = await thingsOf(engine, name);
    const id = found!.replace('container /', '');
    const { State, Id } = JSON.parse(await engine.call('GET', `/containers/${id}/json`)) as {
      State: { Running: boolean };
      Id: string;
    };
    return { id: Id, isRunning: State.Running };
  };
  await cli('up');
  const first = await container();
  expect(first.isRunning).toBe(true);
  try {
    project.configure(`components:\n${IDLE}`);
    await cli('reload');
    // Its own restart policy does not bring it back either.
    await waitFor('it to be stopped', async () => !(await container()).isRunning);
    await waitFor('it to be forgotten', async () => (await project.status()).components.length === 1);
    expect(await container()).toEqual({ id: first.id, isRunning: false });
    project.configure(`components:\n${IDLE}${CACHE}`);
    await cli('reload');
    await project.until('cache', 'ready again', ({ ready }) => ready);
    expect((await container()).isRunning).toBe(true);
    await cli('down');
    expect((await container()).isRunning).toBe(false);
  } finally {
    await engine.remove((await container()).id);
  }
});

test('what init makes of a Compose file alone comes up as Compose would bring it up', async ({ skip }) => {
  const engine = engineOf(skip);
  await using project = new TestProject('');
  rmSync(project.path('keepwell.yaml'));
  const service = 'image: keepwell-test, init: true, network_mode: none';
  const TOLD = `
services:
  web: { ${service}, command: [sh, -c, "echo it works; sleep 1000"], depends_on: { setup: { condition: service_completed_successfully } } }
  setup: { ${service}, command: [echo, set up] }
  debug: { ${service}, command: [sleep, "1000"], profiles: [debug] }
`;
  project.write('compose.yaml', TOLD);
  const name = `init-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const env = { ...composeEnv('2', project.dir, skip), ...engine.env, COMPOSE_PROJECT_NAME: name };
  await using _ = {
    [Symbol.asyncDispose]: async () => {
      for (const { Id } of await engine.labelled(`com.docker.compose.project=${name}`)) await engine.remove(Id);
    },
  };
  expect((await project.cliWith(env, 'init')).stdout).toContain('compose.yaml: used for web, setup');
  const up = await project.cliWith(env, 'up');
  expect(up.code, up.stderr).toBe(0);
  expect((await project.status()).components).toMatchObject([
    { name: 'web', kind: 'compose', state: 'running' },
    { name: 'setup', state: 'completed' },
  ]);
  await waitFor('its word', () => project.log('web').includes('it works'));
  expect(await engine.labelled(`com.docker.compose.project=${name}`)).toHaveLength(2);
  await project.ok('down');
});
