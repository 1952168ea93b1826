/** One HTTP request over a connection of its own: the head of the answer, and as much of the body as is needed. */
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { Answered, fail } from '../answers.ts';
import type { Deadline } from '../deadline.ts';
import { tlsFailure } from './tls.ts';

/** Resolves when the head is there. Throws `Answered` when it is not to be had. */
export function head(options: RequestOptions, socket: Socket, deadline: Deadline): Promise<IncomingMessage> {
  deadline.missing = 'no answer';
  return deadline.wait((resolve, reject) => {
    // Without an agent, which would keep connections; so `Connection: close` is sent, too.
    const asked = request({ ...options, createConnection: () => lend(socket) });
    const failed = (error: unknown): void => reject(new Answered(httpFailure(error)));
    asked.on('error', () => {}); // for good: the end of the socket is an error to it
    asked.once('response', resolve).once('upgrade', resolve).once('error', failed);
    asked.end();
    return () => asked.off('response', resolve).off('upgrade', resolve).off('error', failed);
  });
}

/** Node ends a connection its own way after an answer; how this one ends is up to the caller. So it gets only its use. */
function lend(socket: Socket): Duplex {
  const lent = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, () => done()), // what went wrong, 'error' tells
    final: (done) => done(),
  });
  socket.on('data', (chunk) => {
    if (!lent.push(chunk)) socket.pause();
  });
  socket.once('end', () => lent.push(null));
  socket.once('error', (error) => lent.destroy(error));
  socket.once('close', () => lent.destroy());
  return lent;
}

export type Search = 'found' | 'not-there' | 'not-in-the-part-read' | 'cut-off';

/** Looks for `text` in the first `maxBytes` of the body. No more is read, and none when it is found. */
export function search(
  response: IncomingMessage,
  { text, maxBytes }: { readonly text: string; readonly maxBytes: number },
  deadline: Deadline,
): Promise<Search> {
  const needle = Buffer.from(text);
  let body = Buffer.alloc(0);
  return deadline.wait<Search>((resolve) => {
    const look = (chunk: Buffer): void => {
      const from = Math.max(0, body.length - needle.length);
      body = Buffer.concat([body, chunk]).subarray(0, maxBytes);
      if (body.includes(needle, from)) resolve('found');
      else if (body.length === maxBytes) resolve('not-in-the-part-read');
    };
    const ended = (): void => resolve('not-there');
    const cut = (): void => resolve('cut-off');
    response.on('error', cut); // for good
    response.on('data', look).once('end', ended).once('close', cut);
    return () => response.off('data', look).off('end', ended).off('close', cut);
  });
}

function httpFailure(error: unknown): Answer {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'HPE_HEADER_OVERFLOW') return fail('the head of the answer is longer than 16 KiB');
  if (message === 'socket hang up' || code === 'HPE_INVALID_EOF_STATE') {
    return fail('the connection was closed before an answer');
  }
  return code.startsWith('HPE_') ? fail('not an HTTP answer') : tlsFailure(error);
}
