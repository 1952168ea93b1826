/** Orders to an Engine that is overloaded, dies in the middle, or refuses; each is understood, and none is given twice. */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { selfSigned } from '../probes/certificate.ts';
import { answer, fakeEngine } from './fake-engine.ts';
import { clientOf, never, plan } from './workbench.ts';

const at = (socketPath: string) => ({ env: { DOCKER_HOST: `unix://${socketPath}` } });
const message = (text: string) => JSON.stringify({ message: text });
const ID = 'f'.repeat(64);

test('only so many calls, and fewer starts, are under way at once; who waits can leave, and all get their turn', async () => {
  const waiting: Socket[] = [];
  let starts = 0;
  await using fake = await fakeEngine((socket, request) => {
    if (request.includes('/start ')) starts++;
    waiting.push(socket);
  });
  const engine = clientOf(at(fake.socketPath));
  const leaver = new AbortController();
  const started = Array.from({ length: 10 }, () => engine.start(ID, never));
  await waitFor('the starts to arrive', () => waiting.length === 4);
  const asked = Array.from({ length: 20 }, () => engine.ping(never));
  const left = engine.ping(leaver.signal);
  await waitFor('the calls to arrive', () => waiting.length === 12);
  expect(starts).toBe(4);
  leaver.abort(new Error('never mind'));
  await expect(left).rejects.toThrow('never mind');
  const answering = waitFor('everybody to be answered', () => {
    for (const socket of waiting.splice(0)) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK');
    return starts === 10 && fake.open.size === 0;
  });
  const results = await Promise.all([...started, ...asked]);
  await answering;
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['done']));
});

test('a slow stop holds nobody up', async () => {
  await using fake = await fakeEngine((socket, request) => {
    if (!request.includes('/stop?')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK');
  });
  const engine = clientOf(at(fake.socketPath));
  const over = new AbortController();
  const stops = Array.from({ length: 30 }, () => engine.stop(ID, 600_000, over.signal).catch(() => {}));
  await waitFor('all stops to be under way', () => fake.open.size === 30);
  expect(await engine.ping(never)).toEqual({ kind: 'done' });
  over.abort();
  await Promise.all(stops);
});

test('a stop that takes longer than allowed is looked at, not repeated', async () => {
  const asked: string[] = [];
  const state = { Status: 'exited', Running: false, Pid: 0, ExitCode: 137, StartedAt: '2026-01-01T00:00:00Z' };
  await using fake = await fakeEngine((socket, request) => {
    asked.push(request.split(' HTTP')[0] ?? '');
    if (request.startsWith('GET')) socket.end(answer('200 OK', JSON.stringify({ Id: ID, Name: '/web', State: state })));
  });
  const clock = new FakeClock();
  const stopped = createEngine({ ...at(fake.socketPath), clock }).stop(ID, 1_500, never);
  await waitFor('the question to arrive', () => asked.length === 1);
  await clock.advance(12_000); // the time for the stop and no more: the look has its own
  expect(await stopped).toEqual({ kind: 'done' });
  expect(asked).toEqual([`POST /containers/${ID}/stop?t=2`, `GET /containers/${ID}/json`]);
});

test.each([
  ['304 Not Modified', '', { kind: 'done' }],
  ['404 Not Found', message(`No such container: ${ID}`), { kind: 'missing' }],
  ['404 Not Found', message('network web_default not found'), { kind: 'refused' }],
  ['404 Not Found', '<html>nginx</html>', { kind: 'refused' }],
  ['409 Conflict', message('container is marked for removal and cannot be started'), { kind: 'missing' }],
  ['400 Bad Request', message('exec: "x": executable file not found in $PATH'), { kind: 'refused' }],
  ['500 Error', message('driver failed: Bind for 0.0.0.0:80 failed: port is already allocated'), { kind: 'refused' }],
  ['500 Error', message('could not find bridge docker0: no such network interface'), { kind: 'engine-fault' }],
  ['500 Error', message('something else'), { kind: 'engine-fault' }],
  ['503 Unavailable', 'nonsense', { kind: 'engine-fault' }],
])('a start answered with %s %s', async (status, body, deed) => {
  await using fake = await fakeEngine((socket) => socket.end(answer(status, body)));
  expect(await clientOf(at(fake.socketPath)).start(ID, never)).toMatchObject(deed);
});

test.each([
  ['cut off', 'HTTP/1.1 201 Created\r\nContent-Length: 90\r\n\r\n{"Id":'],
  ['of something else', answer('201 Created', '[]')],
])('a container whose answer is %s may have been made or not', async (_what, text) => {
  await using fake = await fakeEngine((socket) => socket.end(text));
  expect(await clientOf(at(fake.socketPath)).create('web', plan(), never)).toMatchObject({ kind: 'unreachable' });
});

test('what a container writes is read no faster than it is taken', async () => {
  const inspected = {
    Id: ID,
    Name: '/web',
    State: { Status: 'running', Running: true, Pid: 7, ExitCode: 0, StartedAt: '2026-01-01T00:00:00Z' },
  };
  const text = Buffer.from(`2026-01-01T00:00:00.000000001Z ${'x'.repeat(2 ** 16)}`);
  const header = Buffer.alloc(8);
  header[0] = 1;
  header.writeUInt32BE(text.length, 4);
  const frame = Buffer.concat([header, text]);
  let sent = 0;
  await using fake = await fakeEngine((socket, request) => {
    if (request.includes('/json')) return void socket.end(answer('200 OK', JSON.stringify(inspected)));
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const pour = () => {
      while (!socket.destroyed && socket.write(frame)) sent += frame.length;
    };
    socket.on('drain', pour);
    pour();
  });
  const over = new AbortController();
  let pieces = 0;
  const onPiece = () => {
    pieces++;
    return new Promise<void>(() => {});
  };
  const reading = clientOf(at(fake.socketPath)).logs(ID, { after: null, follow: true, onPiece }, over.signal);
  await waitFor('the first piece', () => pieces > 0);
  const before = sent;
  expect(await clientOf(at(fake.socketPath)).inspect(ID, never)).toMatchObject({ kind: 'found' });
  expect(sent).toBe(before);
  expect([pieces, sent < 2 ** 23]).toEqual([1, true]);
  over.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
});

test.each([
  ['{"status":"Pulling"}\n{"status":"Downloaded newer image"}\n', { kind: 'done' }],
  ['{"status":"Pulling"}\n{"errorDetail":{},"error":"dial tcp: no such host"}\n', { kind: 'engine-fault' }],
  ['{"error":"pull access denied for x"}\n', { kind: 'refused' }],
  ['', { kind: 'unreachable' }],
])('an image is fetched only when the last line says so: %j', async (text, deed) => {
  let asked = '';
  await using fake = await fakeEngine((socket, request) => {
    asked = request;
    socket.end(answer('200 OK', text));
  });
  expect(await clientOf(at(fake.socketPath)).pull('registry.example:5000/x', never)).toMatchObject(deed);
  expect(asked).toContain(`fromImage=${encodeURIComponent('registry.example:5000/x:latest')}`);
});

test('over an encrypted connection, only the Engine that its certificate vouches for is believed', async ({ skip }) => {
  const [identity, other] = [selfSigned(), selfSigned()];
  if (!identity || !other) return skip('openssl is not installed here');
  using dir = tempDir();
  const server = createServer(
    { ...identity, ca: identity.cert, requestCert: true, rejectUnauthorized: true },
    (_, reply) => {
      reply.end('OK');
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { DOCKER_HOST: `tcp://127.0.0.1:${port}`, DOCKER_CERT_PATH: dir.path };
  const ping = () => createEngine({ env, clock: systemClock }).ping(never);
  try {
    writeFileSync(dir.at('ca.pem'), identity.cert);
    writeFileSync(dir.at('cert.pem'), identity.cert);
    writeFileSync(dir.at('key.pem'), identity.key);
    expect(await ping()).toEqual({ kind: 'done' });
    writeFileSync(dir.at('ca.pem'), other.cert);
    expect(await ping()).toMatchObject({
      kind: 'unreachable',
      why: expect.stringContaining(`tcp://127.0.0.1:${port}`),
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
