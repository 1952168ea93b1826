import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { TestProject } from '../support/project.ts';

const SERVER = resolve('test/fixtures/probes/rpc-server.mjs');
const QUICK = 'restart: { backoff: { initial: 0s, max: 0s }, limit: { max: 10000 } }';
/** Long enough for a machine that is busy with other tests. */
const TIMEOUT = 'timeout: 10s';

const server = (port: number, more = '') =>
  `process: { command: [${process.execPath}, ${SERVER}, "${port}", mood]${more} }\n    ${QUICK}`;

test('a gRPC server that says it is not serving is restarted; one that cannot be asked about it is not', async () => {
  const [port, other] = [await freePort(), await freePort()];
  await using project = new TestProject(`components:
  api:
    ${server(port)}
    startup: { grpc: ${port}, period: 1s, failure_threshold: 60, ${TIMEOUT} }
    liveness: { grpc: { port: ${port} }, period: 200ms, failure_threshold: 2, ${TIMEOUT} }
  bare:
    ${server(other, ', env: { HEALTH: "off" }')}
    startup: { tcp: ${other}, period: 1s, failure_threshold: 60 }
    liveness: { grpc: ${other}, period: 200ms, failure_threshold: 1, ${TIMEOUT} }
`);
  await project.ok('up');
  await project.until('api', 'healthy', ({ health }) => health === 'healthy');
  project.write('mood', 'sick');
  await project.until('api', 'ended for its health', ({ restarts }) => restarts > 0);
  project.write('mood', 'ok');
  const after = await project.until('api', 'ready again', ({ ready }) => ready);
  expect(after.last_restart?.reason).toMatch(/^(liveness|startup) grpc :\d+ failed \d+ times: /);
  const bare = await project.until('bare', 'asked', ({ note }) => note !== null);
  expect(bare).toMatchObject({ state: 'running', restarts: 0 });
  expect(bare.note).toMatch(/^liveness grpc :\d+: this server does not implement grpc\.health\.v1: register /);
});

test('a worker that polls no more is restarted; when Temporal is down, it is not', async () => {
  const port = await freePort();
  await using project = new TestProject(`components:
  temporal:
    ${server(port)}
    readiness: { tcp: ${port} }
  worker:
    process: { command: [sleep, "1000"] }
    ${QUICK}
    depends_on: { temporal: ready }
    liveness:
      temporal: { address: "127.0.0.1:${port}", task_queue: workflows, kind: workflow }
      period: 200ms
      failure_threshold: 2
      ${TIMEOUT}
`);
  await project.ok('up');
  await project.until('worker', 'healthy', ({ probes }) => probes[0]?.verdict === 'pass');
  project.write('mood', 'sick');
  const ended = await project.until('worker', 'ended for its health', ({ restarts }) => restarts > 0);
  expect(ended.last_restart?.reason).toMatch(
    /^liveness temporal :\d+ workflow queue workflows failed 2 times: no worker polls the workflow queue workflows \(the last one 3 min/,
  );
  project.write('mood', 'ok');
  const alive = await project.until('worker', 'healthy again', ({ probes }) => probes[0]?.verdict === 'pass');
  await project.ok('stop', 'temporal');
  const alone = await project.until('worker', 'not asked', ({ note }) => note?.includes('could not be asked') ?? false);
  expect(alone).toMatchObject({ state: 'running', pid: alive.pid, restarts: alive.restarts });
  expect(alone.note).toMatch(/: Temporal at 127\.0\.0\.1:\d+ could not be asked: connection refused$/);
});
