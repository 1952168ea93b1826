/** One gRPC call with one message each way, over a connection of its own. */
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { hangUp, LINGER_MS } from '../../base/hang-up.ts';
import { Answered, fail } from '../answers.ts';
import type { Deadline } from '../deadline.ts';
import { lastLine } from '../last-line.ts';
import { framed, MessageReader } from './frames.ts';
import { statusOfHttp } from './status.ts';
import { watchTroubles } from './troubles.ts';

export interface Call {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly scheme: 'http' | 'https';
  /** Who is asked, as the server knows itself. */
  readonly authority: string;
  readonly message: Uint8Array;
  /** Of the answer. */
  readonly maxBytes: number;
}

/** How the call ended, and what came with it. */
export interface Reply {
  readonly status: number;
  /** What the server says about it, in one harmless line; may be empty. */
  readonly detail: string;
  readonly message: Uint8Array | null;
}

/** As much as a server can need to say how it went. */
const MAX_HEADER_BYTES = 16 * 1024;
/** The error code of HTTP/2 for an answer that nobody waits for any more. */
const CANCEL = 8;
/** gRPC allows eight digits. */
const MAX_GRPC_TIMEOUT_MS = 99_999_999;

/** Takes over `socket`. Throws `Answered` when there is no answer of a gRPC server. */
export async function call(asked: Call, socket: Socket, deadline: Deadline): Promise<Reply> {
  deadline.missing = 'no answer';
  // Not with the rest of the program: most projects never ask this way.
  const { connect } = await import('node:http2');
  let leave = (): void => void hangUp(socket);
  try {
    return await deadline.wait<Reply>((resolve, reject) => {
      const session = connect('http://localhost', {
        createConnection: () => socket,
        settings: { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES },
      });
      const refuse = (message: string): void => reject(new Answered(fail(message)));
      const stream = request(session, asked, deadline);
      const letGo = watchTroubles({ session, stream, socket }, (answer) => reject(new Answered(answer)));
      read(stream, asked.maxBytes, { resolve, refuse });
      stream.end(framed(asked.message));
      leave = () => takeLeave(session, stream, socket);
      return letGo;
    });
  } finally {
    leave();
  }
}

/** Calls off what is not answered yet, says goodbye (GOAWAY), and hangs up with FIN; within bounds, as `hangUp` does. */
function takeLeave(session: ClientHttp2Session, stream: ClientHttp2Stream, socket: Socket): void {
  if (!stream.closed) stream.close(CANCEL);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer)).unref();
  session.close();
}

function request(session: ClientHttp2Session, asked: Call, { leftMs }: Deadline): ClientHttp2Stream {
  return session.request({
    ':method': 'POST',
    ':scheme': asked.scheme,
    ':authority': asked.authority,
    ':path': asked.path,
    'content-type': 'application/grpc',
    'user-agent': 'keepwell-probe',
    te: 'trailers',
    'grpc-accept-encoding': 'identity',
    'grpc-timeout': `${Math.min(Math.max(1, Math.ceil(leftMs)), MAX_GRPC_TIMEOUT_MS)}m`,
  });
}

interface Outcome {
  readonly resolve: (reply: Reply) => void;
  readonly refuse: (message: string) => void;
}

function read(stream: ClientHttp2Stream, maxBytes: number, { resolve, refuse }: Outcome): void {
  const reader = new MessageReader(maxBytes);
  const finish = (headers: IncomingHttpHeaders): void => {
    const status = statusIn(headers);
    const rest = reader.end();
    if (status === null) refuse('the answer has no gRPC status');
    else if (typeof rest === 'string') refuse(rest);
    else resolve({ status, detail: detailIn(headers), message: rest.message });
  };
  stream.once('response', (headers: IncomingHttpHeaders) => {
    const http = Number(headers[':status']);
    const type = String(headers['content-type'] ?? 'no content-type');
    if (statusIn(headers) !== null)
      finish(headers); // all of it in one: there will be no message
    else if (http !== 200) resolve({ status: statusOfHttp(http), detail: `HTTP ${http}`, message: null });
    else if (!/^application\/grpc(?:[+;]|$)/.test(type)) refuse(`not a gRPC answer (${lastLine(type)})`);
  });
  stream.on('data', (piece: Buffer) => {
    const problem = reader.add(piece);
    if (problem !== null) refuse(problem);
  });
  stream.once('trailers', finish);
}

function statusIn(headers: IncomingHttpHeaders): number | null {
  const text = String(headers['grpc-status'] ?? '');
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Percent-encoded on its way. */
function detailIn(headers: IncomingHttpHeaders): string {
  const text = String(headers['grpc-message'] ?? '');
  try {
    return lastLine(decodeURIComponent(text));
  } catch {
    return lastLine(text);
  }
}
