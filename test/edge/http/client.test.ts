import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callJson } from '../../../src/api/client/call.ts';
import { createClient, ifRunning } from '../../../src/api/client/client.ts';
import { readEvents } from '../../../src/api/client/event-reader.ts';
import { why } from './fake-control.ts';
import { Served } from './serve.ts';

const directory = mkdtempSync(join(tmpdir(), 'kw-client-'));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function listen(listener: RequestListener): Promise<string> {
  const path = join(directory, `${Math.random().toString(36).slice(2)}.sock`);
  const server = createServer(listener).listen(path);
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return path;
}

const get = (socket: string, timeoutMs = 10_000, signal?: AbortSignal) =>
  callJson(socket, { method: 'GET', path: '/v1/status', timeoutMs, signal });

test('every call reaches its route', async () => {
  await using served = await Served.open();
  served.control.crashList.push(why(1, 'api'));
  const client = createClient(served.socket);
  expect((await client.status()).project).toBe('demo');
  expect(await client.version()).toBe('0.1.0');
  expect((await client.up(['api'], ['/p/keepwell.yaml'])).components).toEqual(['api']);
  expect((await client.act('stop', ['api'])).action).toBe('stop');
  expect((await client.down()).action).toBe('down');
  await client.handover();
  expect((await client.crashes({ component: 'api', sinceMs: 0, limit: 5 })).crashes).toHaveLength(1);
  expect((await client.why({ id: 1 })).id).toBe(1);
  expect((await client.why({ component: 'api' })).id).toBe(1);
  expect((await client.listEvents({ after: 0, limit: 5 })).last_seq).toBe(0);
});

test.each(['', 'a,b'])('"%s" is no check, and is not taken for all of them or for two', async (name) => {
  await using served = await Served.open();
  const answer = createClient(served.socket).health({ checks: [name], withDeps: false });
  await expect(answer).rejects.toMatchObject({ code: 'NO_SUCH_CHECK', exitCode: 2, details: { name } });
});

test('errors of the daemon come back with code, details, message and exit code', async () => {
  await using served = await Served.open();
  const error = createClient(served.socket).act('stop', ['nobody']);
  await expect(error).rejects.toMatchObject({
    code: 'NO_SUCH_COMPONENT',
    exitCode: 4,
    details: { name: 'nobody' },
    message: 'There is no component "nobody".',
  });
});

test('no socket, or one that nobody listens on any more, means "not running"', async () => {
  const missing = createClient(join(directory, 'missing.sock'));
  await expect(missing.status()).rejects.toMatchObject({ code: 'DAEMON_NOT_RUNNING', exitCode: 3 });
  expect(await ifRunning(missing.version())).toBeNull();
  const dead = join(directory, 'dead.sock');
  writeFileSync(dead, ''); // a plain file refuses a connection just as an abandoned socket does
  expect(await ifRunning(createClient(dead).status())).toBeNull();
  const events = readEvents(join(directory, 'missing.sock'), {}, new AbortController().signal);
  await expect(events.next()).rejects.toMatchObject({ code: 'DAEMON_NOT_RUNNING' });
});

test('a daemon that does not answer is not waited for without end', async () => {
  const socket = await listen(() => {});
  await expect(get(socket, 50)).rejects.toMatchObject({ code: 'DAEMON_UNREACHABLE' });
});

test('a daemon that stops in the middle of its answer is not waited for either', async () => {
  const socket = await listen((_request, response) => {
    response.writeHead(200, { 'Content-Length': 100 });
    response.write('{');
  });
  await expect(get(socket, 50)).rejects.toMatchObject({ code: 'DAEMON_UNREACHABLE' });
});

test.each([
  ['no JSON', '<html>', 200, 'not JSON'],
  ['an error without a body', '', 502, 'status 502'],
  ['an error of another form', '{"oops":true}', 500, 'status 500'],
])('%s is told as it is', async (_what, body, status, mention) => {
  const socket = await listen((_request, response) => response.writeHead(status).end(body));
  const error = get(socket);
  await expect(error).rejects.toMatchObject({ code: 'DAEMON_UNREACHABLE', message: expect.stringContaining(mention) });
});

test('an error code of a newer daemon is not mistaken for one of ours', async () => {
  for (const code of ['FROM_THE_FUTURE', '__proto__', 'constructor']) {
    const error = { error: { code, message: 'It is late.', hint: '', details: {} } };
    const socket = await listen((_request, response) => response.writeHead(418).end(JSON.stringify(error)));
    await expect(get(socket)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('It is late.'),
    });
  }
});

test('a connection that is closed without an answer is told', async () => {
  const path = join(directory, 'rude.sock');
  const server = createRawServer((socket) => socket.destroy()).listen(path);
  await once(server, 'listening');
  cleanups.push(() => server.close());
  await expect(get(path)).rejects.toMatchObject({ code: 'DAEMON_UNREACHABLE' });
});

test('an abort ends a call and a stream with its own reason', async () => {
  const socket = await listen(() => {});
  const abort = new AbortController();
  const call = get(socket, 10_000, abort.signal);
  const stream = readEvents(socket, {}, abort.signal).next();
  abort.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  await expect(stream).rejects.toThrow('enough');
});

test('the abort of a stream under way ends it', async () => {
  await using served = await Served.open();
  const abort = new AbortController();
  const stream = readEvents(served.socket, {}, abort.signal);
  const next = stream.next();
  await expect.poll(() => served.control.listeners.size).toBe(1);
  abort.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  await expect.poll(() => served.control.listeners.size).toBe(0);
});

test('events split at every byte come out whole', async () => {
  const one = {
    seq: 1,
    at: '',
    subject: { kind: 'component', name: 'api' },
    type: 't',
    run_id: null,
    data: { é: '💥' },
  };
  const bytes = Buffer.from(`retry: 1\n\nid: 1\ndata: ${JSON.stringify(one)}\n\n: heartbeat\n\n`);
  const socket = await listen(async (_request, response) => {
    for (const byte of bytes) {
      response.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    response.end();
  });
  const seen = [];
  for await (const event of readEvents(socket, {}, new AbortController().signal)) seen.push(event);
  expect(seen).toEqual([one]);
});

test('the directory of these tests can go', () => {
  rmSync(directory, { recursive: true, force: true });
});
