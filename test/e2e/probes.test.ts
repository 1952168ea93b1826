import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WhyView } from '../../src/supervision/rules/views.ts';
import { freePort } from '../support/free-port.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const SERVER = resolve('test/fixtures/probes/server.mjs');
const NODE = process.execPath;
const QUICK = 'restart: { backoff: { initial: 0s, max: 0s } }';

const server = (port: number, more: string) => `
    process: { command: [${NODE}, ${SERVER}, "${port}", mood] }
    ${QUICK}
    ${more}`;

describe('liveness', () => {
  test('a server that accepts and never answers is restarted after its threshold, and why tells it', async () => {
    const port = await freePort();
    await using project = new TestProject(`components:
  api: ${server(
    port,
    `startup: { tcp: ${port}, period: 200ms, failure_threshold: 1000 }
    liveness: { http: { port: ${port}, path: /healthz }, period: 300ms, timeout: 1s, failure_threshold: 3 }
    readiness: { http: { port: ${port} }, period: 1s }`,
  )}
`);
    await project.ok('up');
    // It is healthy before liveness is asked for the first time.
    const first = await project.until('api', 'well', ({ ready, probes }) => ready && probes[0]?.verdict === 'pass');
    expect(first.health).toBe('healthy');
    expect(first.probes.map(({ role, verdict }) => [role, verdict])).toEqual([
      ['liveness', 'pass'],
      ['readiness', 'pass'],
    ]);
    expect(await project.ok('status', '--verbose')).toMatch(/Probes: {3}liveness http :\d+\/healthz ✓ \d+ ms, /);
    project.write('mood', 'hang');
    await project.until('api', 'ended for its health', ({ restarts }) => restarts > 0);
    project.write('mood', 'ok');
    const after = await project.until('api', 'ready again', ({ ready }) => ready);
    expect(after.last_restart?.reason).toMatch(/^liveness http :\d+\/healthz failed 3 times: no answer within 1 s$/);
    const why = JSON.parse(await project.ok('-o', 'json', 'why', 'api')) as WhyView;
    expect(why.root_cause).toMatch(/^liveness http/);
    expect(why.probes.at(-1)).toMatchObject({ role: 'liveness', outcome: 'fail', count: 3 });
    expect(await project.ok('why', 'api')).toMatch(/api was ended because liveness http[\s\S]*Its probes before that:/);
  });

  test('one that is slow to start is not restarted, and its dependents wait until it is ready', async () => {
    const port = await freePort();
    await using project = new TestProject(`components:
  api:
    process: { command: [sh, -c, 'until test -e go; do sleep 0.05; done; exec ${NODE} ${SERVER} ${port} mood'] }
    startup: { tcp: ${port}, period: 500ms, failure_threshold: 1000 }
    liveness: { tcp: ${port}, period: 200ms, failure_threshold: 1 }
    readiness: { http: { port: ${port} }, period: 1s }
  web:
    process: { command: [sleep, "1000"] }
    depends_on: { api: ready }
`);
    await project.ok('up', '--no-wait');
    const waiting = await project.until('web', 'waiting', ({ state }) => state === 'waiting');
    expect(waiting.waiting_for).toEqual(['api']);
    expect(await project.component('api')).toMatchObject({ health: 'starting', ready: false });
    project.write('go', '');
    await project.ok('wait', 'web', '--for', 'ready');
    expect(await project.component('api')).toMatchObject({ restarts: 0, ready: true, health: 'healthy' });
    const seen = JSON.parse(`[${(await project.ok('-o', 'json', 'events')).trim().split('\n').join(',')}]`) as {
      type: string;
      subject: { name: string };
    }[];
    const order = seen.map(({ type, subject }) => `${subject.name} ${type}`);
    expect(order.indexOf('web component.starting')).toBeGreaterThan(order.indexOf('api component.ready'));
  });

  test('a stopped daemon blames nobody when it goes on', async () => {
    const port = await freePort();
    await using project = new TestProject(`components:
  api: ${server(
    port,
    `startup: { tcp: ${port}, period: 1s, failure_threshold: 60 }
    liveness: { http: { port: ${port} }, period: 100ms, timeout: 1500ms, failure_threshold: 1 }`,
  )}
`);
    await project.ok('up');
    const before = await project.until('api', 'healthy', ({ health }) => health === 'healthy');
    const daemon = project.daemonPid()!;
    for (let round = 0; round < 3; round += 1) {
      kill(daemon, 'SIGSTOP');
      await new Promise((done) => setTimeout(done, 2_000)); // the stall itself, not a wait for something
      kill(daemon, 'SIGCONT');
      const asked = (await project.component('api')).probes[0]!.last!.at;
      await project.until('api', 'asked again', ({ probes }) => (probes[0]?.last?.at ?? '') > asked);
    }
    expect(await project.component('api')).toMatchObject({ pid: before.pid, restarts: 0, health: 'healthy' });
  });
});

describe('readiness', () => {
  test('that flaps never restarts, and is told each time', async () => {
    const port = await freePort();
    await using project = new TestProject(`components:
  api: ${server(port, `readiness: { http: { port: ${port} }, period: 100ms, timeout: 30s, failure_threshold: 1 }`)}
`);
    await project.ok('up');
    const { pid } = await project.component('api');
    for (let round = 0; round < 3; round += 1) {
      project.write('mood', 'sick');
      const sick = await project.until('api', 'not ready', ({ ready }) => !ready);
      expect(sick).toMatchObject({ state: 'running', health: 'healthy', pid });
      expect(sick.note).toMatch(/^readiness http .*: HTTP 503$/);
      project.write('mood', 'ok');
      await project.until('api', 'ready', ({ ready }) => ready);
    }
    expect(await project.component('api')).toMatchObject({ pid, restarts: 0 });
  });

  test('by a line of the log comes with that line, and is not asked again of a line of an earlier run', async () => {
    await using project = new TestProject(`components:
  api:
    process: { command: [sh, -c, 'while [ ! -e go ]; do sleep 0.05; done; echo "now serving"; exec sleep 1000'] }
    readiness: { log: "now serving" }
`);
    await project.ok('up', '--no-wait');
    await project.until('api', 'running', ({ state }) => state === 'running');
    expect((await project.component('api')).ready).toBe(false);
    project.write('go', '');
    await project.until('api', 'ready', ({ ready }) => ready);
    const { unlinkSync } = await import('node:fs');
    unlinkSync(project.path('go'));
    await project.ok('restart', 'api', '--no-wait');
    const again = await project.until(
      'api',
      'running again',
      ({ state, uptime_ms }) => state === 'running' && uptime_ms! > 700,
    );
    expect(again.ready).toBe(false);
  });
});

test('crash patterns and exec probes restart too, and leave nothing behind', async () => {
  await using project = new TestProject(`components:
  chatty:
    process: { command: [sh, -c, 'while :; do if [ -e panic ]; then echo "panic: out of luck"; fi; sleep 0.1; done'] }
    crash_patterns: ["panic:"]
    liveness: { pid: {}, period: 1m, failure_threshold: 1 }
    ${QUICK}
  checked:
    process: { command: [sleep, "1000"] }
    liveness: { exec: { command: [sh, -c, 'setsid sleep 300 & test ! -e bad'] }, period: 100ms, failure_threshold: 2 }
    ${QUICK}
`);
  await project.ok('up');
  project.write('panic', '');
  const chatty = await project.until('chatty', 'restarted', ({ restarts }) => restarts > 0);
  expect(chatty.last_restart?.reason).toBe('liveness pid failed once: crash pattern "panic:": panic: out of luck');
  project.write('bad', '');
  const checked = await project.until('checked', 'restarted', ({ restarts }) => restarts > 0);
  expect(checked.last_restart?.reason).toMatch(/^liveness exec sh -c .* failed 2 times: exit code 1/);
  await project.ok('down');
  await waitFor('nothing to be left', () => project.processes().length === 0);
});

test('a daemon that was killed comes back knowing who was ready, and restarts nobody', async () => {
  const port = await freePort();
  await using project = new TestProject(`components:
  api: ${server(
    port,
    `liveness: { http: { port: ${port} }, period: 500ms }
    readiness: { http: { port: ${port} }, period: 30s }`,
  )}
  slow:
    process: { command: [sleep, "1000"] }
    readiness: { exec: { command: [test, -e, never] } }
`);
  await project.ok('up', '--no-wait');
  const before = await project.until('api', 'ready', ({ ready, health }) => ready && health === 'healthy');
  const daemon = project.daemonPid()!;
  kill(daemon);
  await waitFor('a new daemon', async () => {
    const { daemon: now } = await project.status();
    return now.answers && now.pid !== daemon;
  });
  expect(await project.component('api')).toMatchObject({ pid: before.pid, ready: true, restarts: 0, adopted: true });
  expect((await project.component('slow')).ready).toBe(false);
});

test('without a daemon nobody is called healthy by probes that nobody asks', async () => {
  await using project = new TestProject(`components:
  asked:
    process: { command: [sleep, "1000"] }
    liveness: { pid: {}, period: 200ms }
  plain:
    process: { command: [sleep, "1000"] }
`);
  await project.ok('up');
  kill(project.guardianPid()!);
  kill(project.daemonPid()!);
  await waitFor('the daemon to be gone', () => project.daemonPid() === null);
  expect(await project.component('asked')).toMatchObject({ state: 'running', health: 'unknown', ready: false });
  expect(await project.component('plain')).toMatchObject({ state: 'running', health: 'healthy', ready: true });
});

test('what others started and what has died is said to be gone, and where it is looked for', async () => {
  const port = await freePort();
  await using project = new TestProject(`components:
  temporal: { external: { address: "localhost:${port}" } }
`);
  await project.ok('up', '--no-wait');
  expect(await project.component('temporal')).toMatchObject({
    ...{ state: 'starting', health: 'starting', note: 'not there yet; watching for it' },
    watched: { kind: 'address', target: `localhost:${port}` },
  });
  expect(await project.ok('status', '--verbose')).toContain(`Address:  localhost:${port}`);
  const server = createServer((socket) => socket.resume().on('error', () => {})).listen(port, '127.0.0.1');
  await project.until('temporal', 'there', ({ state }) => state === 'running');
  server.close();
  const gone = await project.until('temporal', 'gone', ({ state }) => state === 'starting');
  expect(gone).toMatchObject({ health: 'unhealthy', ready: false });
  expect(gone.note).toMatch(
    /^gone for .*: no connection to localhost:\d+ \(ECONNREFUSED\); watching for it to come back$/,
  );
  expect((await project.cli('status', '--exit-code')).code).toBe(3);
});

test('what others started is watched, and brought back by its command', async () => {
  await using project = new TestProject(`components:
  legacy:
    external: { pid_file: legacy.pid }
    restart: { policy: always, command: [./start.sh], backoff: { initial: 0s, max: 0s } }
  seen:
    external: { pid_file: seen.pid }
`);
  project.write('start.sh', '#!/bin/sh\nsetsid sleep 1000 >/dev/null 2>&1 &\necho $! > legacy.pid\n');
  await project.ok('up', '--no-wait');
  const legacy = await project.until('legacy', 'running', ({ state }) => state === 'running');
  expect(legacy.pid).toBe(Number(project.read('legacy.pid')));
  expect(await project.component('seen')).toMatchObject({ state: 'starting', note: 'not there yet; watching for it' });
  kill(legacy.pid!);
  const again = await project.until('legacy', 'back', ({ state, pid }) => state === 'running' && pid !== legacy.pid);
  expect(again.restarts).toBe(1);
  await project.ok('restart', 'legacy');
  const restarted = await project.until('legacy', 'running', ({ state }) => state === 'running');
  expect(restarted.pid).not.toBe(again.pid);
  expect(restarted.pid).toBe(Number(project.read('legacy.pid')));
  kill(restarted.pid!);
  await project.until('legacy', 'back again', ({ state, restarts }) => state === 'running' && restarts === 1);
  project.write('seen.pid', `${again.pid}\n`);
  await project.until('seen', 'there', ({ state, health }) => state === 'running' && health === 'healthy');
  await project.ok('stop', 'legacy');
  expect(project.processes().some(({ pid }) => pid === again.pid)).toBe(true);
  kill(again.pid!);
  const gone = await project.until('seen', 'gone', ({ state }) => state === 'starting');
  expect(gone).toMatchObject({ restarts: 0 });
  expect((await project.crashes()).find(({ subject }) => subject.name === 'seen')?.decision).toMatch(/^observed only/);
});
