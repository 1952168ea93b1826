/** Many callers at once: who waits takes no place from who acts, who says nothing gives way, and too many are told so. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/api/client/client.ts';
import type { SessionRecord } from '../../../src/sessions/spec.ts';
import { sessionRecord } from '../../support/session-record.ts';
import { waitFor } from '../../support/wait-for.ts';
import { component } from './fake-control.ts';
import { Served } from './serve.ts';

/** Spawns are answered when the test says so. */
function slowSpawns(served: Served): { readonly waiting: (() => void)[]; release(): void } {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const sessions = served.control.sessions as { spawn: typeof served.control.sessions.spawn };
  sessions.spawn = ({ user }) =>
    new Promise<SessionRecord>((resolve) => {
      const answer = () => resolve(sessionRecord({ user }));
      if (isOpen) answer();
      else waiting.push(answer);
    });
  return {
    waiting,
    release: () => {
      isOpen = true;
      for (const answer of waiting.splice(0)) answer();
    },
  };
}

const spawnBody = (user: number) => ({ body: { template: 'lab', user_id: `u${user}`, wait: 'healthy' } });

describe('waiting for a session or a component', () => {
  test('a hundred users at once get a hundred sessions, and status is answered meanwhile', async () => {
    await using served = await Served.open();
    const spawns = slowSpawns(served);
    const client = createClient(served.socket);
    const users = Array.from({ length: 100 }, (_, n) =>
      client.spawnSession({ template: 'lab', user: `u${n}`, ttlMs: undefined, wait: 'healthy' }),
    );
    await waitFor('some of them to wait', () => spawns.waiting.length > 10);
    expect((await client.status()).components.length).toBeGreaterThan(0);
    spawns.release();
    const got = await Promise.all(users);
    expect(new Set(got.map(({ session }) => session.user_id)).size).toBe(100);
  });

  test('a hundred programs that wait for sessions lock nobody out, and all get theirs in the end', async () => {
    await using served = await Served.open();
    const spawns = slowSpawns(served);
    const users = Array.from({ length: 100 }, (_, n) =>
      createClient(served.socket).spawnSession({ template: 'lab', user: `u${n}`, ttlMs: undefined, wait: 'healthy' }),
    );
    await waitFor('as many as may to wait', () => spawns.waiting.length >= 30);
    const operator = createClient(served.socket);
    await operator.act('stop', ['api']);
    expect((await operator.status()).project).toBe('demo');
    spawns.release();
    expect(await Promise.all(users)).toHaveLength(100);
  });

  test('who finds no place to wait is told so, with a time to come back', async () => {
    await using served = await Served.open({ maxConnections: 8 });
    const spawns = slowSpawns(served);
    const first = [1, 2, 3, 4].map((user) => served.ask('POST', '/v1/sessions', spawnBody(user)));
    await waitFor('four to wait', () => spawns.waiting.length === 4);
    const refused = await served.ask('POST', '/v1/sessions', spawnBody(5));
    expect([refused.status, refused.json.error.code, refused.headers['retry-after']]).toEqual([
      503,
      'DAEMON_BUSY',
      '1',
    ]);
    expect((await served.ask('GET', '/v1/status')).status).toBe(200);
    spawns.release();
    for (const answer of first) expect((await answer).status).toBe(200);
  });

  test('waiting for components counts as well', async () => {
    await using served = await Served.open({ maxConnections: 8 });
    served.control.components = [component('api', { ready: false })];
    const waits = Array.from({ length: 4 }, () => served.ask('GET', '/v1/wait?component=api'));
    await waitFor('all to wait', () => served.control.listeners.size === 4);
    expect((await served.ask('GET', '/v1/wait?component=api')).json.error.code).toBe('DAEMON_BUSY');
    expect((await served.ask('POST', '/v1/stop', { body: { components: ['api'] } })).status).toBe(202);
    served.control.components = [component('api')];
    for (const wait of waits) expect((await wait).status).toBe(200);
  });
});

test('connections that ask nothing give way to those that come', async () => {
  await using served = await Served.open();
  const idle: Socket[] = [];
  for (let n = 0; n < 80; n++) {
    const socket = connect(served.socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    idle.push(socket);
  }
  for (let n = 0; n < 20; n++) expect((await served.ask('GET', '/v1/status')).status).toBe(200);
  for (const socket of idle) socket.destroy();
});

test('only what happens to the component itself is a reason to look at it again', async () => {
  await using served = await Served.open();
  served.control.components = [component('api', { ready: false })];
  const waits = Array.from({ length: 30 }, () => served.ask('GET', '/v1/wait?component=api'));
  await waitFor('all to wait', () => served.control.listeners.size === 30);
  let looks = 0;
  const look = served.control.component.bind(served.control);
  served.control.component = (name) => {
    looks += 1;
    return look(name);
  };
  const { event } = await import('./fake-control.ts');
  for (let seq = 1; seq <= 100; seq++)
    served.control.emit({ ...event(seq), subject: { kind: 'component', name: 'other' } });
  expect(looks).toBe(0);
  served.control.components = [component('api')];
  for (const wait of waits) expect((await wait).status).toBe(200);
});
