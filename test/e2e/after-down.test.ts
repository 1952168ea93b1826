/** What is left in a Docker Engine after a component, or everything, was stopped. */
import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { composeEnv } from '../support/compose.ts';
import { type TestEngine, useEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const engineOf = useEngine();

const LOOP = `[sh, -c, 'trap "exit 0" TERM; while :; do sleep 0.05; done']`;
const unique = (word: string) => `${word}-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;

async function policyOf(engine: TestEngine, id: string) {
  const { HostConfig } = JSON.parse(await engine.call('GET', `/containers/${id}/json`)) as {
    HostConfig: { RestartPolicy: { Name: string; MaximumRetryCount: number } };
  };
  const { Name, MaximumRetryCount } = HostConfig.RestartPolicy;
  return MaximumRetryCount === 0 ? Name : `${Name}:${MaximumRetryCount}`;
}

/** Two services with restart policies of their own, kept by a project; nothing of them is left after the block. */
async function composeShop(engine: TestEngine, skip: (note: string) => never) {
  const service = (restart: string) =>
    `{ image: keepwell-test, network_mode: none, restart: "${restart}", command: ${LOOP} }`;
  const cache = '  cache: { compose: { file: docker-compose.yml, service: cache } }\n';
  const queue = '  queue: { compose: { file: docker-compose.yml, service: queue } }\n';
  const project = new TestProject(`components:\n${cache}${queue}`);
  const name = unique('policies');
  project.write(
    'docker-compose.yml',
    `services:\n  cache: ${service('always')}\n  queue: ${service('on-failure:4')}\n`,
  );
  const env = { ...composeEnv('2', project.dir, skip), ...engine.env, COMPOSE_PROJECT_NAME: name };
  const cli = async (...args: string[]) => {
    const answer = await project.cliWith(env, ...args);
    expect(answer.code, `${args.join(' ')}: ${answer.stdout}${answer.stderr}`).toBe(0);
    return answer;
  };
  const labelled = (...labels: string[]) => engine.labelled(`com.docker.compose.project=${name}`, ...labels);
  const policies = async () => {
    const found = await labelled();
    const entries = await Promise.all(
      found.map(async ({ Id, Labels }) => [Labels['com.docker.compose.service'], await policyOf(engine, Id)] as const),
    );
    return Object.fromEntries(entries.sort());
  };
  const idOf = async (of: string) => (await labelled(`com.docker.compose.service=${of}`))[0]!.Id;
  return {
    project,
    cli,
    env,
    policies,
    idOf,
    withoutQueue: `components:\n${cache}`,
    [Symbol.asyncDispose]: async () => {
      await project[Symbol.asyncDispose]();
      for (const { Id } of await labelled()) await engine.remove(Id);
    },
  };
}

const KEPT = { cache: 'no', queue: 'no' };
const ITS_OWN = { cache: 'always', queue: 'on-failure:4' };

test('a compose service gets its restart policy back when it is stopped, leaves the configuration, or all goes down', async ({
  skip,
}) => {
  const engine = engineOf(skip);
  await using shop = await composeShop(engine, skip);
  const { project, cli, policies } = shop;
  await cli('up');
  await waitFor('both to be kept by one only', async () => JSON.stringify(await policies()) === JSON.stringify(KEPT));

  // What somebody gives it meanwhile is taken back, and is not what it had.
  const id = await shop.idOf('cache');
  await engine.call('POST', `/containers/${id}/update`, { RestartPolicy: { Name: 'unless-stopped' } });
  await waitFor('it to be kept by one only', async () => (await policies())['cache'] === 'no');

  await cli('stop', 'cache');
  await waitFor('what it had', async () => (await policies())['cache'] === 'always');
  expect((await policies())['queue']).toBe('no');
  await cli('start', 'cache');
  await waitFor('both to be kept', async () => JSON.stringify(await policies()) === JSON.stringify(KEPT));

  const before = project.read('keepwell.yaml');
  project.configure(shop.withoutQueue);
  await cli('reload');
  await waitFor('what queue had', async () => (await policies())['queue'] === 'on-failure:4');
  project.configure(before);
  await cli('reload');
  await project.until('queue', 'back', ({ state }) => state === 'running');

  await cli('down');
  expect(await policies()).toEqual(ITS_OWN);
});

test('a daemon that is killed does not forget the restart policy that a service had', async ({ skip }) => {
  const engine = engineOf(skip);
  await using shop = await composeShop(engine, skip);
  const { project, cli, policies } = shop;
  await cli('up');
  await waitFor('both to be kept', async () => JSON.stringify(await policies()) === JSON.stringify(KEPT));
  const pid = project.daemonPid()!;
  process.kill(pid, 'SIGKILL');
  await waitFor('another daemon', () => ![null, pid].includes(project.daemonPid()));
  await cli('down');
  expect(await policies()).toEqual(ITS_OWN);

  // One that is only ended leaves them to the next one; when there is none, whoever is asked to end it all puts them back.
  await cli('up');
  await waitFor('both to be kept again', async () => JSON.stringify(await policies()) === JSON.stringify(KEPT));
  process.kill(project.daemonPid()!, 'SIGTERM');
  await waitFor('no daemon', () => project.daemonPid() === null);
  expect(await policies()).toEqual(KEPT);
  const { stdout } = await cli('down');
  expect(stdout).toContain('nothing is running');
  expect(await policies()).toEqual(ITS_OWN);
});

test('down says which stopped containers it keeps, and with --rm removes those of this project and no others', async ({
  skip,
}) => {
  const engine = engineOf(skip);
  const name = unique('shop');
  const volume = unique('data');
  const config = `
name: ${name}
components:
  web: { container: { image: keepwell-test, network: none, command: ${LOOP}, volumes: ["${volume}:/data"] } }
  job: { container: { image: keepwell-test, network: none, command: ["true"] }, restart: { policy: never } }
`;
  await using project = new TestProject(config);
  await using other = new TestProject(config);
  const clear = async () => {
    for (const { Id } of await engine.labelled(`keepwell.project=${name}`)) await engine.remove(Id);
    await engine.call('DELETE', `/volumes/${volume}?force=1`);
  };
  await using _ = { [Symbol.asyncDispose]: clear };
  const cli = (of: TestProject, ...args: string[]) => of.cliWith(engine.env, ...args);
  const listed = async () => (await engine.labelled(`keepwell.project=${name}`)).map(({ Names }) => Names[0]!.slice(1));
  for (const each of [project, other]) expect(await cli(each, 'up')).toMatchObject({ code: 0 });
  expect(await listed()).toHaveLength(4);

  const kept = await cli(project, 'down');
  expect(kept).toMatchObject({ code: 0 });
  expect(kept.stderr).toContain(`2 stopped containers kept: `);
  expect(kept.stderr).toContain(`${name}-web`);
  expect(kept.stderr).toContain('"keepwell down --rm" removes them');
  expect(await listed()).toHaveLength(4);

  // Without a daemon as well as with one.
  const removed = await cli(project, 'down', '--rm');
  expect(removed).toMatchObject({ code: 0, stderr: '' });
  expect(removed.stdout).toContain('nothing is running\nremoved 2 stopped containers: ');
  expect(await listed()).toHaveLength(2);
  expect((await cli(project, 'down', '--rm')).stdout).toContain(
    'no container and no network of this project to remove',
  );
  expect(await cli(project, 'up')).toMatchObject({ code: 0 });
  const answer = await cli(project, 'down', '--rm', '-o', 'json');
  expect(JSON.parse(answer.stdout)).toMatchObject({ still_running: [], kept_containers: [], removed_networks: [] });
  expect(JSON.parse(answer.stdout).removed_containers).toHaveLength(2);
  expect(await engine.call('GET', `/volumes/${volume}`)).toContain(volume);

  // The one of another project, which has the same name, runs on.
  const left = await engine.labelled(`keepwell.project=${name}`, 'keepwell.component=web');
  expect(left).toMatchObject([{ State: 'running' }]);

  // Over the API, as the library asks for it.
  const { socket } = JSON.parse(other.read('.keepwell/daemon.json')) as { socket: string };
  const headers = { 'Content-Type': 'application/json' };
  const asked = request({ socketPath: socket, method: 'POST', path: '/v1/down', headers });
  asked.end(JSON.stringify({ remove: true }));
  const [answered] = await once(asked, 'response');
  expect(answered.statusCode).toBe(202);
  answered.resume();
  await waitFor('nothing to be left', async () => (await listed()).length === 0);
});
