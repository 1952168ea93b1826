import { describe, expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import {
  ask,
  drip,
  never,
  open,
  openFiles,
  PLENTY_MS,
  prober,
  type Served,
  SHORT_MS,
  serve,
  target,
} from '../probes/probe-world.ts';
import {
  answering,
  data,
  END_STREAM,
  frame,
  GOOD,
  HELLO,
  headers,
  message,
  numbers,
  OK,
  SERVING,
  whenAsked,
} from './frames.ts';
import { grpc, temporal } from './rpc-world.ts';

const COUNT = 1_000;
const AT_ONCE = 100;

const WHOLE = data(message(SERVING));
const endless = (piece: Buffer): Promise<Served> =>
  whenAsked((socket) => {
    socket.write(HELLO);
    drip(socket, piece);
  });

describe('what a server may say instead of an answer', () => {
  test.each<[string, () => Promise<Served>, string]>([
    ['closes at once', () => whenAsked((socket) => socket.end()), 'the connection was closed before an answer'],
    ['greets and closes', () => whenAsked((socket) => socket.end(HELLO)), 'the connection was closed before an answer'],
    ['resets the connection', () => whenAsked((socket) => socket.resetAndDestroy()), 'connection reset'],
    [
      'sends an alert of TLS',
      () => whenAsked((socket) => socket.end(Buffer.of(21, 3, 3, 0, 2, 2, 70))),
      'not an HTTP/2 answer: is this the port of a gRPC server, and does it want TLS?',
    ],
    [
      'goes away before the call',
      () => answering(frame('goaway', 0, 0, numbers(0, 0))),
      'the server ends the connection (GOAWAY, NO_ERROR)',
    ],
    [
      'has enough',
      () => answering(frame('goaway', 0, 0, numbers(1, 11))),
      'the server ends the connection (GOAWAY, ENHANCE_YOUR_CALM)',
    ],
    [
      'refuses the call',
      () => answering(frame('reset', 0, 1, numbers(7))),
      'the server broke the answer off (REFUSED_STREAM)',
    ],
    ['breaks off cleanly', () => answering(GOOD, frame('reset', 0, 1, numbers(0))), 'the answer has no gRPC status'],
    ['forgets the status', () => answering(GOOD, data(message(SERVING), END_STREAM)), 'the answer has no gRPC status'],
    [
      'has a status that is no number',
      () => answering(GOOD, WHOLE, headers({ 'grpc-status': 'fine' }, END_STREAM)),
      'the answer has no gRPC status',
    ],
    ['has a status nobody knows', () => answering(GOOD, headers({ 'grpc-status': '77' }, END_STREAM)), 'status 77'],
    ['has no message', () => answering(GOOD, OK), 'there is no message in the answer'],
    ['says all in one', () => answering(headers({ ':status': '200', 'grpc-status': '14' }, END_STREAM)), 'UNAVAILABLE'],
    ['stands behind a proxy', () => answering(headers({ ':status': '503' }, END_STREAM)), 'UNAVAILABLE: HTTP 503'],
    [
      'compresses',
      () => answering(GOOD, data(message(SERVING, { flag: 1 })), OK),
      'the answer is compressed, which was not asked for',
    ],
    ['is not of this world', () => answering(GOOD, data(message(SERVING, { flag: 9 })), OK), 'not a gRPC answer'],
    [
      'announces a gigabyte',
      () => answering(GOOD, data(message(SERVING, { length: 2 ** 30 }))),
      'the answer is longer than 10240 bytes',
    ],
    ['says it twice', () => answering(GOOD, WHOLE, WHOLE, OK), 'the answer has more than one message'],
    ['is cut off', () => answering(GOOD, data(message(SERVING, { length: 9 })), OK), 'the answer was cut off'],
    ['is cut off in the head', () => answering(GOOD, data(Buffer.of(0, 0)), OK), 'the answer was cut off'],
    [
      'is no protobuf',
      () => answering(GOOD, data(message(Buffer.of(8))), OK),
      'the answer cannot be read: it ends within a number',
    ],
  ])('it %s', async (_, server, expected) => {
    const { port } = await server();
    expect(await ask(grpc(port))).toEqual({ outcome: 'fail', message: expected });
    // The same of a Temporal frontend says nothing about the worker.
    expect(await ask(temporal(port))).toMatchObject({ outcome: 'inconclusive' });
  });

  test.each([
    ['of its own', Buffer.of(8, 9), 'health status 9'],
    ['left open', Buffer.alloc(0), 'UNKNOWN'],
    ['of a service it does not know', Buffer.of(8, 3), 'SERVICE_UNKNOWN'],
  ])('a health %s', async (_, health, expected) => {
    const { port } = await answering(GOOD, data(message(health)), OK);
    expect(await ask(grpc(port))).toEqual({ outcome: 'fail', message: expected });
  });

  // How soon Node notices these differs between its versions: at once, or when the time is up.
  test.each<[string, () => Promise<Served>]>([
    ['a frame of a megabyte', () => answering(GOOD, data(Buffer.alloc(2 ** 20)))],
    ['headers that cannot be read', () => answering(frame('headers', 4, 1, Buffer.alloc(7, 0xff)))],
    ['a flood of pings', () => answering(...Array.from({ length: 5_000 }, () => frame('ping', 0, 0, Buffer.alloc(8))))],
    [
      'a bomb of headers',
      () =>
        answering(
          headers(Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`x-${index}`, 'y'.repeat(100)]))),
        ),
    ],
    ['pings without end', () => endless(frame('ping', 0, 0, Buffer.alloc(8)))],
    ['nothing but zeros', () => serve((socket) => drip(socket, '\0'))],
    [
      'a message that never ends',
      async () =>
        whenAsked((socket) => {
          socket.write(Buffer.concat([HELLO, GOOD, data(message(SERVING, { length: 10_000 }))]));
          drip(socket, data(Buffer.of(0)));
        }),
    ],
  ])('%s', async (_, server) => {
    const { port } = await server();
    expect((await ask(grpc(port), SHORT_MS)).outcome).toBe('fail');
  });
});

describe('what still is an answer', () => {
  test('one that comes byte by byte', async () => {
    const pieces = [...message(SERVING)].map((byte) => data(Buffer.of(byte)));
    const whole = Buffer.concat([HELLO, GOOD, data(Buffer.alloc(0)), ...pieces, OK]);
    const { port } = await whenAsked((socket) => {
      socket.setNoDelay(true);
      for (const byte of whole) socket.write(Buffer.of(byte));
    });
    expect(await ask(grpc(port))).toEqual({ outcome: 'pass', message: 'SERVING' });
  });

  test('one of a server that goes away after it', async () => {
    const { port } = await answering(frame('goaway', 0, 0, numbers(1, 0)), GOOD, WHOLE, OK);
    expect(await ask(grpc(port))).toEqual({ outcome: 'pass', message: 'SERVING' });
  });

  test('one with a word before it, and with fields that nobody asked for', async () => {
    const more = Buffer.concat([
      Buffer.of(0x12, 1, 7),
      SERVING,
      Buffer.of(0x1d, 1, 2, 3, 4),
      Buffer.of(0x21),
      Buffer.alloc(8),
    ]);
    const { port } = await answering(headers({ ':status': '103' }), GOOD, data(message(more)), OK);
    expect(await ask(grpc(port))).toEqual({ outcome: 'pass', message: 'SERVING' });
  });
});

test('row 38: 1,000 questions to servers that hang leave nothing behind', { timeout: 300_000 }, async () => {
  const hanging = [
    await serve(() => {}),
    await endless(frame('ping', 0, 0, Buffer.alloc(8))),
    await answering(GOOD, data(message(SERVING, { length: 100 }))),
    await whenAsked((socket) => socket.write(HELLO.subarray(0, 5))),
  ];
  const asking = prober();
  const askOne = async (index: number): Promise<string> => {
    const { port } = hanging[index % hanging.length]!;
    const question = index % 3 === 0 ? temporal(port) : grpc(port, { tls: index % 7 === 0 });
    using inquiry = asking.open(question, target(), () => {});
    const controller = new AbortController();
    const callOff = index % 10 === 3 ? setTimeout(() => controller.abort(), index % SHORT_MS) : undefined;
    const { outcome } = await inquiry.ask(SHORT_MS, controller.signal);
    clearTimeout(callOff);
    return outcome;
  };
  for (let index = 0; index < 21; index++) await askOne(index);
  const sockets = (): number => openFiles().filter((name) => name.startsWith('socket:')).length;
  await waitFor('the servers to notice the end', () =>
    hanging.every((each) => each.sockets.every((socket) => socket.destroyed)),
  );
  const before = sockets();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < COUNT) expect(await askOne(next++)).not.toBe('pass');
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await waitFor('the sockets to be closed', () => sockets() <= before);
});

test('a question that is called off ends at once', async () => {
  const { port, sockets } = await serve(() => {});
  const inquiry = open(grpc(port));
  const controller = new AbortController();
  const answer = inquiry.ask(PLENTY_MS, controller.signal);
  await waitFor('the connection', () => sockets.length === 1);
  controller.abort();
  expect(await answer).toEqual({ outcome: 'inconclusive', message: 'it was called off' });
  expect((await inquiry.ask(SHORT_MS, never)).outcome).toBe('fail');
});
