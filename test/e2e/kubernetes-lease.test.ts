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
  api:
    process: { command: [./server] }
    restart: { limit: { max: 9, within: 10m, retry: never } }
  batch:
    process: { command: [./batch] }
  migrate:
    process: { command: [./migrate] }
    restart: { policy: on-failure }
`;

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/keepwell-shop';
const holder = async () => (await cluster.call('GET', LEASE)).body.spec?.holderIdentity as string | undefined;
const projectOf = () => new TestProject(CONFIG, { KUBECONFIG: cluster.kubeconfig });

async function first(): Promise<TestProject> {
  const project = projectOf();
  const up = project.ok('up', '--timeout', '60s');
  await hand.pod('migrate');
  await hand.die('migrate', { exitCode: 0, again: false });
  await up;
  return project;
}

/** The daemon that is asked second waits: it says whose turn it is, and touches nothing. */
async function second(): Promise<TestProject> {
  const project = projectOf();
  await project.cli('up', '--no-wait');
  await project.until('api', 'waiting', ({ note }) => /another Keepwell, .*, runs this project/.test(note ?? ''));
  return project;
}

test('one daemon runs the project, another takes over when it dies, and what ended in between is told once', async () => {
  await using one = await first();
  const firstHolder = await waitFor('a holder', holder);
  await using two = await second();
  const pod = (await hand.pod('api')).metadata.name;
  const { code, stderr } = await two.cli('stop', 'api');
  expect(code).toBe(3);
  expect(stderr).toMatch(/Another Keepwell, .*, runs this project on the cluster; nothing was changed/);
  expect((await hand.workload('api')).spec.replicas).toBe(1);

  await hand.die('api', { exitCode: 3 });
  await waitFor('the crash', async () => (await one.crashes()).length === 1);
  const { daemon } = await one.status();
  process.kill(daemon.guardian_pid!, 'SIGKILL');
  process.kill(daemon.pid!, 'SIGKILL');
  await hand.die('api', { exitCode: 4 });
  await two.until('api', 'watched', ({ state, ready }) => state === 'running' && ready);
  expect(await holder()).not.toBe(firstHolder);
  expect((await two.component('api')).container).toBe(pod);
  const told = await waitFor('the crash', async () => {
    const crashes = await two.crashes();
    return crashes.length > 0 ? crashes : null;
  });
  expect(told.map(({ exit }) => exit.code)).toEqual([4]);
  // A Job that was over is not done again.
  await two.until('migrate', 'completed', ({ state }) => state === 'completed');
  expect((await hand.pods()).filter(({ metadata }) => /^migrate/.test(metadata.name))).toHaveLength(1);
});

test('a daemon that ends gives the Lease back, and what it had stopped stays so until somebody wants it', async () => {
  await using one = await first();
  await using two = await second();
  await one.ok('stop', 'batch');
  const { daemon } = await one.status();
  process.kill(daemon.pid!, 'SIGTERM');
  await two.until('api', 'watched', ({ state, ready }) => state === 'running' && ready);
  const held = await two.until('batch', 'at rest', ({ note }) =>
    /at rest when this Keepwell took over/.test(note ?? ''),
  );
  expect(held.note).toContain('stopped by keepwell');
  expect((await hand.workload('batch')).spec.replicas).toBe(0);
  await two.ok('restart', 'batch');
  await two.until('batch', 'up', ({ state }) => state === 'running');
  expect((await hand.workload('batch')).spec.replicas).toBe(1);
});

test('the end of a daemon that waits touches nothing, and down of the other removes the Lease', async () => {
  await using one = await first();
  await using two = await second();
  await two.ok('down');
  expect((await hand.workload('api')).spec.replicas).toBe(1);
  expect(await one.component('api')).toMatchObject({ state: 'running', ready: true });
  await one.ok('down');
  expect((await cluster.call('GET', LEASE)).status).toBe(404);
});
