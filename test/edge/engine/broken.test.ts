/** An Engine that is missing, mute, slow or confused: each is told apart, and none holds anybody up. */
import { chmodSync, linkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createEngine, MAX_ANSWER_BYTES } from '../../../src/docker/engine.ts';
import type { Inspection } from '../../../src/docker/ports.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fastClock } from '../process/workshop.ts';
import { answer, type FakeEngine, fakeEngine } from './fake-engine.ts';

const never = new AbortController().signal;
const NOBODY = 65_534;

/** A clock so fast that a deadline of 5 s passes in a quarter of one: only for who never answers, or a busy machine does not either. */
const HASTY = fastClock(20);

function inspect(socketPath: string, clock = systemClock): Promise<Inspection> {
  return createEngine({ env: { DOCKER_HOST: `unix://${socketPath}` }, clock }).inspect('web', never);
}

async function whyUnreachable(socketPath: string, clock = systemClock): Promise<string> {
  const inspection = await inspect(socketPath, clock);
  expect(inspection.kind).toBe('unreachable');
  return inspection.kind === 'unreachable' ? inspection.why : '';
}

const hungUp = (fake: FakeEngine) => waitFor('the connection to be closed', () => fake.open.size === 0);

test('without a socket and without a program, Docker is not installed', async () => {
  using dir = tempDir();
  const places = { systemSocket: dir.at('docker.sock'), podmanSocket: dir.at('podman.sock'), programDirs: [] };
  const engine = createEngine({ env: { HOME: dir.path, PATH: '' }, clock: systemClock, places });
  expect(await engine.inspect('web', never)).toEqual({
    kind: 'unreachable',
    why: `no Docker Engine is installed here, and there is no ${dir.at('docker.sock')}: install Docker, or set DOCKER_HOST to the socket it listens on`,
  });
});

test('without a socket but with the program, it is not running', async () => {
  using dir = tempDir();
  writeFileSync(dir.at('dockerd'), '');
  const places = { systemSocket: dir.at('docker.sock'), podmanSocket: dir.at('podman.sock'), programDirs: [] };
  const engine = createEngine({ env: { HOME: dir.path, PATH: dir.path }, clock: systemClock, places });
  expect(await engine.inspect('web', never)).toMatchObject({
    why: expect.stringMatching(/^the Docker Engine is not running, there is no .*docker\.sock: start it/),
  });
});

test('a socket that nobody listens on any more means that it is not running', async () => {
  using dir = tempDir();
  // As after a kill: the server is gone and its socket, under a second name, is still there.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(dir.at('live.sock'), resolve));
  linkSync(dir.at('live.sock'), dir.at('stale.sock'));
  await new Promise((resolve) => server.close(resolve));
  expect(await whyUnreachable(dir.at('stale.sock'))).toMatch(
    /^the Docker Engine is not running, nobody listens on .*stale\.sock \(named by DOCKER_HOST\): start it/,
  );
});

test('a socket that is not for us says how to get access', async () => {
  await using fake = await fakeEngine(() => {});
  chmodSync(dirname(fake.socketPath), 0o755);
  chmodSync(fake.socketPath, 0o000);
  // Root may do anything, so for a moment this process is somebody else.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    expect(await whyUnreachable(fake.socketPath)).toMatch(/^permission to use .* was denied: .*group "docker"/);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test('a file in the place of the socket is nobody who listens', async () => {
  using dir = tempDir();
  writeFileSync(dir.at('docker.sock'), '');
  expect(await whyUnreachable(dir.at('docker.sock'))).toMatch(/^the Docker Engine is not running, nobody listens on /);
});

const STATE = { Status: 'running', Running: true, Pid: 7, ExitCode: 0, StartedAt: '2026-01-01T00:00:00Z' };
const WEB = JSON.stringify({ Id: 'f'.repeat(64), Name: '/web', State: STATE });

test('the fake is believed when it behaves, so that the rest of this file means something', async () => {
  await using fake = await fakeEngine((socket) => socket.end(answer('200 OK', WEB)));
  expect(await inspect(fake.socketPath)).toMatchObject({ kind: 'found', state: { running: true, pid: 7 } });
});

test.each([
  ['in its headers', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ['after its headers', 'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n'],
  ['in its body', answer('200 OK', WEB).slice(0, -20)],
  ['in a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"Id":"f'],
  ['before it began', ''],
])('an answer that is cut off %s is no answer', async (_where, part) => {
  await using fake = await fakeEngine((socket) => socket.end(part));
  expect(await whyUnreachable(fake.socketPath)).toMatch(/gave no usable answer/);
  await hungUp(fake);
});

test.each([
  ['never comes', ''],
  ['stops in its headers', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ['stops in its body', answer('200 OK', WEB).slice(0, -20)],
])('an answer that %s is waited for no longer than the deadline', async (_what, part) => {
  await using fake = await fakeEngine((socket) => socket.write(part));
  expect(await whyUnreachable(fake.socketPath, HASTY)).toMatch(/no complete answer within 5 s/);
  await hungUp(fake);
});

test('an answer that drips for ever is waited for no longer than the deadline', async () => {
  await using fake = await fakeEngine((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n');
    const drip = setInterval(() => socket.write(' '), 5);
    socket.on('close', () => clearInterval(drip));
  });
  expect(await whyUnreachable(fake.socketPath, HASTY)).toMatch(/no complete answer within 5 s/);
  await hungUp(fake);
});

test('whoever keeps the time himself is answered by an Engine that is slower than the deadline', async () => {
  await using fake = await fakeEngine((socket) => void setTimeout(() => socket.end(answer('200 OK', WEB)), 50));
  // The deadline of 5 s is over long before.
  const options = { env: { DOCKER_HOST: `unix://${fake.socketPath}` }, clock: fastClock(100_000) };
  expect(await createEngine(options).inspect('web', never)).toMatchObject({ kind: 'unreachable' });
  expect(await createEngine({ ...options, answerWithinMs: null }).inspect('web', never)).toMatchObject({
    kind: 'found',
  });
});

test('an answer without end is read no further than the limit', async () => {
  const chunk = ' '.repeat(2 ** 16);
  let sent = 0;
  await using fake = await fakeEngine((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
    };
    socket.on('drain', pour);
    pour();
  });
  expect(await whyUnreachable(fake.socketPath)).toMatch(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
  await hungUp(fake);
  expect(sent).toBeLessThan(MAX_ANSWER_BYTES * 4);
});

test.each([
  ['something that is not JSON', '200 OK', 'hello'],
  ['JSON of another kind', '200 OK', '[1, 2]'],
  ['a container without a state', '200 OK', '{"Id":"f","Name":"/web"}'],
  ['an error of its own', '500 Internal Server Error', '{"message":"could not find bridge docker0"}'],
  ['404 for another reason', '404 Not Found', '{"message":"page not found"}'],
  ['404 without a reason', '404 Not Found', '<html>nginx</html>'],
])('%s says nothing about the container', async (_what, status, body) => {
  await using fake = await fakeEngine((socket) => socket.end(answer(status, body)));
  expect(await whyUnreachable(fake.socketPath)).toMatch(/answered/);
});

test('what the Engine complains about is passed on', async () => {
  await using fake = await fakeEngine((socket) => socket.end(answer('500 Error', '{"message":"no bridge docker0"}')));
  expect(await whyUnreachable(fake.socketPath)).toBe('the Docker Engine answered with status 500: no bridge docker0');
});

test('whoever asks can hang up at any time', async () => {
  await using fake = await fakeEngine(() => {});
  const caller = new AbortController();
  const asked = createEngine({ env: { DOCKER_HOST: `unix://${fake.socketPath}` }, clock: systemClock });
  const inspection = asked.inspect('web', caller.signal);
  await waitFor('the question to arrive', () => fake.open.size === 1);
  caller.abort(new Error('never mind'));
  await expect(inspection).rejects.toThrow('never mind');
  await hungUp(fake);
});

test('an Engine that wants an encrypted connection says so to a question in the clear, and it is told what to set', async () => {
  await using fake = await fakeEngine((socket) =>
    socket.end(answer('400 Bad Request', 'Client sent an HTTP request to an HTTPS server.\n')),
  );
  expect(await whyUnreachable(fake.socketPath)).toMatch(/wants an encrypted connection: set DOCKER_TLS_VERIFY=1/);
});
