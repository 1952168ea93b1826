/** One HTTP request over a connection of its own: the head of the answer, and as much of the body as is needed. */
import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { type Deadline, FinalAnswer, fail } from '../inquiry.ts';
import { tlsFailure } from './connect.ts';

/** Resolves when the head is there. Throws `Answered` when it is not to be had. */
export function head(options: RequestOptions, socket: Socket, deadline: Deadline): Promise<IncomingMessage> {
  deadline.missing = 'no answer';
  return deadline.wait((resolve, reject) => {
    // Without an agent, which would keep connections; so `Connection: close` is sent, too.
    const asked = request({ ...options, createConnection: () => lend(socket) });
    const failed = (error: unknown): void => reject(new FinalAnswer(httpFailure(error)));
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

// One HTTP request of which only the status of the answer matters, as with most probes. A hundred of them a second cost a fifth less than
// with Node's request objects, which are built to do more.

export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

/** As much as Node takes. */
const MAX_HEAD_BYTES = 16 * 1024;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?$/;
const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:/;

/** What may stand in a request line as it is; anything else is for Node to refuse or to encode. */
export const isPlainPath = (path: string): boolean => /^[\x21-\x7e]+$/.test(path);

/** The status, once the whole head of the answer is there. Throws `Answered` when it is not to be had. */
export function plainStatus(request: PlainRequest, socket: Socket, deadline: Deadline): Promise<number> {
  deadline.missing = 'no answer';
  let text = '';
  return deadline.wait((resolve, reject) => {
    const refuse = (message: string): void => reject(new FinalAnswer(fail(message)));
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const reading = readHead(text);
      if (typeof reading === 'number') resolve(reading);
      else if (reading !== null) refuse(reading);
    };
    const closed = (): void => refuse('the connection was closed before an answer');
    const failed = (error: unknown): void => reject(new FinalAnswer(tlsFailure(error)));
    socket.on('data', read).once('end', closed).once('close', closed).once('error', failed);
    socket.write(requestText(request), 'latin1');
    return () => socket.off('data', read).off('end', closed).off('close', closed).off('error', failed);
  });
}

function requestText({ method, path, headers }: PlainRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** The status, what is wrong with it, or null while it may still become something. */
function readHead(text: string): number | string | null {
  const head = takeHead(text);
  if (head === null) {
    if (!couldBeHead(text)) return 'not an HTTP answer';
    return text.length > MAX_HEAD_BYTES ? 'the head of the answer is longer than 16 KiB' : null;
  }
  const status = statusOf(head.lines);
  if (status === null) return 'not an HTTP answer';
  const isLast = status >= 200 || status === 101;
  return isLast ? status : readHead(head.rest); // after a word in between, such as 103 Early Hints
}

function takeHead(text: string): { readonly lines: readonly string[]; readonly rest: string } | null {
  const end = text.indexOf('\r\n\r\n');
  return end < 0 ? null : { lines: text.slice(0, end).split('\r\n'), rest: text.slice(end + 4) };
}

/** Null: that is not HTTP. */
function statusOf([first = '', ...headers]: readonly string[]): number | null {
  const [, status] = STATUS_LINE.exec(first) ?? [];
  return status !== undefined && headers.every((line) => HEADER_LINE.test(line)) ? Number(status) : null;
}

/** Told early: what does not begin like an answer will not become one. */
const couldBeHead = (text: string): boolean => 'HTTP/1.'.startsWith(text.slice(0, 7)) || text.startsWith('HTTP/1.');
