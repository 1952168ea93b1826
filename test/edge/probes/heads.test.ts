import { describe, expect, test } from 'vitest';
import { ask, http, serve } from './probe-world.ts';

/** What a server says, in the pieces in which it says it, and what is made of it. */
const ANSWERS: readonly (readonly [name: string, pieces: readonly string[], message: string])[] = [
  ['an answer in one piece', ['HTTP/1.1 200 OK\r\nX: 1\r\n\r\nhello'], 'HTTP 200'],
  ['one without a reason', ['HTTP/1.0 204\r\n\r\n'], 'HTTP 204'],
  ['one that comes letter by letter', [...'HTTP/1.1 503 Busy\r\nX: 1\r\n\r\n'], 'HTTP 503'],
  ['a word in between', ['HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'], 'HTTP 200'],
  ['another protocol', ['SSH-2.0-OpenSSH_9.2\r\n'], 'not an HTTP answer'],
  ['a later version', ['HTTP/2 200\r\n\r\n'], 'not an HTTP answer'],
  ['a header that is none', ['HTTP/1.1 200 OK\r\nnot a header\r\n\r\n'], 'not an HTTP answer'],
  ['a status of four digits', ['HTTP/1.1 2000 OK\r\n\r\n'], 'not an HTTP answer'],
  [
    'a head without end',
    ['HTTP/1.1 200 OK\r\n', `X: ${'x'.repeat(20_000)}`],
    'the head of the answer is longer than 16 KiB',
  ],
];

describe.each(ANSWERS)('%s', (_, pieces, message) => {
  test.each([null, 'hello'])('is understood alike whether its content matters (%j) or not', async (contains) => {
    const { port } = await serve((socket) => {
      socket.on('error', () => {});
      socket.once('data', async () => {
        for (const piece of pieces) {
          socket.write(piece);
          await new Promise(setImmediate);
        }
        if (contains !== null) socket.end();
      });
    });
    const answer = await ask(http(port, { contains }));
    expect(answer.message.slice(0, message.length)).toBe(message);
  });
});
