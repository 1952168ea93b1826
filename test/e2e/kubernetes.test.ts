import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCluster, type TestCluster } from '../support/kubernetes.ts';
import { Hand } from '../support/kubernetes-hand.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

let cluster: TestCluster;
let hand: Hand;
beforeEach(async () => {
  cluster = await openCluster();
  hand = new Hand(cluster);
});
afterEach(async () => {
  await hand[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const CONFIG = `
name: shop
engine: kubernetes
kubernetes: { image: "shop:1" }
components:
  database:
    container: { image: "postgres:16", ports: ["127.0.0.1:5432:5432"] }
    readiness: { tcp: 5432 }
  api:
    process: { command: [./server], env: { API_TOKEN: "s3cret-value-1" } }
    depends_on: { database: ready }
    restart: { limit: { max: 2, within: 10m, retry: never } }
`;

const projectOf = (config = CONFIG) => new TestProject(config, { KUBECONFIG: cluster.kubeconfig });

test('up applies in order and waits, status tells, down removes exactly what is ours', async () => {
  hand.unready.add('database');
  await using project = projectOf();
  const up = project.ok('up');
  const database = await hand.pod('database');
  expect(await hand.workload('api')).toBeNull(); // it waits for the database
  await hand.setReady('database', true);
  await up;
  const api = await project.component('api');
  expect(api).toMatchObject({ kind: 'kubernetes', state: 'running', ready: true });
  expect((await project.component('database')).container).toBe(database.metadata.name);
  await cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'not-ours', namespace: 'default' } },
  });
  await project.ok('down');
  for (const name of ['api', 'database']) expect(await hand.workload(name)).toBeNull();
  const left = await cluster.call('GET', '/api/v1/namespaces/default/secrets');
  expect(left.body.items.filter(({ metadata }: { metadata: { name: string } }) => /api/.test(metadata.name))).toEqual(
    [],
  );
  expect((await cluster.call('GET', '/api/v1/namespaces/default/configmaps/not-ours')).status).toBe(200);
});

const ONE = `
name: shop
engine: kubernetes
kubernetes: { image: "shop:1" }
components:
  api:
    process: { command: [./server] }
    restart: { limit: { max: 3, within: 10m, retry: never } }
`;

const TRACE = [
  'Traceback (most recent call last):',
  '  File "/app/server.py", line 7, in <module>',
  '    main()',
  '  File "/app/server.py", line 4, in main',
  "    raise KeyError('price')",
  "KeyError: 'price'",
].join('\n');

test('every death is one crash, with its code, signal, last words, events and node', async () => {
  await using project = projectOf(ONE);
  await project.ok('up');
  const died = async (count: number) =>
    waitFor(`${count} crashes`, async () => {
      const crashes = await project.crashes();
      return crashes.length >= count ? crashes : null;
    });
  await hand.die('api', { exitCode: 1, message: TRACE, log: TRACE });
  await died(1);
  await hand.die('api', { exitCode: 137, reason: 'OOMKilled' });
  await died(2);
  await hand.event('api', 'Unhealthy', 'Liveness probe failed: HTTP probe failed with statuscode: 503');
  await hand.event('api', 'Killing', 'Container api failed liveness probe, will be restarted');
  await hand.die('api', { exitCode: 0 });
  const [third, second, first] = await died(3);
  expect(first).toMatchObject({ error_type: 'KeyError', exit: { code: 1 } });
  expect(second).toMatchObject({ exit: { signal: 'SIGKILL', oom: true } });
  expect(third?.exit.unhealthy).toBe('Liveness probe failed: HTTP probe failed with statuscode: 503');
  const why = await project.ok('why', 'api');
  expect(why).toContain('Liveness probe failed: HTTP probe failed with statuscode: 503');
  expect(why).toMatch(/kubernetes: pod api-\w+, container api, restart 2, node node-1/);
  expect(await project.component('api')).toMatchObject({ state: 'running', restarts: 3 });
});

test('whoever crashes too often is taken down, with its count written down, until somebody starts it', async () => {
  await using project = projectOf(ONE);
  await project.ok('up');
  for (let deaths = 1; deaths <= 4; deaths++) {
    await hand.die('api', { exitCode: 7, message: 'no licence' });
    await waitFor(`crash ${deaths}`, async () => (await project.crashes()).length >= deaths);
  }
  await project.until('api', 'given up', ({ state }) => state === 'gave-up');
  const rested = await waitFor('replicas 0', async () => {
    const workload = await hand.workload('api');
    return workload?.spec.replicas === 0 ? workload : null;
  });
  expect(rested.metadata.annotations).toMatchObject({ 'keepwell.replicas': '1', 'keepwell.resting': /gave up/ });
  await waitFor('no pod', async () => (await hand.pods()).length === 0);
  await project.ok('start', 'api');
  expect((await hand.workload('api')).spec.replicas).toBe(1);
  expect(await project.component('api')).toMatchObject({ state: 'running', restarts: 0 });
  expect(await project.crashes()).toHaveLength(4);
  const { incidents } = JSON.parse(await project.ok('-o', 'json', 'incidents')) as { incidents: unknown[] };
  expect(incidents.length).toBeGreaterThan(0);
});

test('a pod that Kubernetes ends by itself is no crash, nor is one that somebody deletes', async () => {
  await using project = projectOf(ONE);
  await project.ok('up');
  const first = (await hand.pod('api')).metadata.name;
  await hand.evict('api');
  await hand.deletePod(first);
  await project.until('api', 'in another pod', ({ container, state }) => state === 'running' && container !== first);
  const second = (await hand.pod('api')).metadata.name;
  await hand.deletePod(second);
  await project.until('api', 'in a third pod', ({ container, state }) => state === 'running' && container !== second);
  expect(await project.crashes()).toEqual([]);
});

test('a daemon that is killed comes back to what runs, and tells of every end once; what nobody saw is said', async () => {
  await using project = projectOf(ONE);
  await project.ok('up');
  const pod = (await hand.pod('api')).metadata.name;
  const killed = async (meanwhile: () => Promise<void>) => {
    const { daemon } = await project.status();
    process.kill(daemon.guardian_pid!, 'SIGKILL');
    process.kill(daemon.pid!, 'SIGKILL');
    await meanwhile();
    await project.ok('up');
  };
  await killed(async () => {});
  expect((await project.component('api')).container).toBe(pod);
  expect(await project.crashes()).toEqual([]);
  await killed(() => hand.die('api', { exitCode: 3 }));
  await project.until('api', 'up', ({ state }) => state === 'running');
  expect((await project.crashes()).map(({ exit }) => exit.code)).toEqual([3]);
  await killed(async () => {
    await hand.die('api', { exitCode: 4 });
    await hand.die('api', { exitCode: 5 });
  });
  await project.until('api', 'up', ({ state }) => state === 'running');
  const crashes = await waitFor('both ends', async () => {
    const all = await project.crashes();
    return all.length === 3 ? all : null;
  });
  expect(crashes.map(({ exit }) => exit.code)).toEqual([5, null, 3]);
  expect(crashes[1]?.exit.unknown).toMatch(/restarted it 2 times while nobody watched.*lost/);
});

test('while the API server is away nothing is concluded, and what happened then is told once', async () => {
  await using project = projectOf(ONE);
  await project.ok('up');
  await cluster.down();
  const held = await project.until('api', 'unknown', ({ condition }) => condition === 'engine-unreachable');
  expect(held.note).toContain('API server');
  await cluster.up();
  await project.until('api', 'seen again', ({ condition, ready }) => condition === null && ready);
  await hand.die('api', { exitCode: 9, message: 'gone' });
  await waitFor('the crash', async () => (await project.crashes()).length === 1);
});

test('what the server refuses is said before anything is changed', async (context) => {
  if (!cluster.fake) return context.skip('a real server takes it');
  await using project = projectOf();
  cluster.fake.invalid.add('database');
  const { code, stderr } = await project.cli('up');
  expect(code).toBe(2);
  expect(stderr).toMatch(/components\.database: (Service|Deployment) database: .* is invalid/);
  expect(await hand.workload('database')).toBeNull();
});

test('without a cluster the daemon does not begin, and says what is missing', async () => {
  await using project = new TestProject(ONE, { KUBECONFIG: '/nowhere/config' });
  const { code, stderr } = await project.cli('up');
  expect(code).not.toBe(0);
  expect(stderr).toContain('there is no /nowhere/config');
});

test('the end of the daemon leaves what runs there as it is', async () => {
  await using project = projectOf(ONE);
  await project.ok('up');
  const { daemon } = await project.status();
  process.kill(daemon.pid!, 'SIGTERM');
  await waitFor('the end of the daemon', async () => !(await project.status()).daemon.running);
  expect((await hand.workload('api')).spec.replicas).toBe(1);
  expect((await project.component('api')).note).toContain('not watched');
});
