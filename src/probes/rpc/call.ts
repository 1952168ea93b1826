/** One gRPC call with one message each way, over a connection of its own. */
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { hangUp, LINGER_MS } from '../../base/hang-up.ts';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { type Deadline, FinalAnswer, fail, lastLine } from '../inquiry.ts';
import type { Names } from '../names/names.ts';
import { connect, secure, tlsFailure } from '../net/connect.ts';

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
      const refuse = (message: string): void => reject(new FinalAnswer(fail(message)));
      const stream = request(session, asked, deadline);
      const letGo = watchTroubles({ session, stream, socket }, (answer) => reject(new FinalAnswer(answer)));
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

interface RpcOutcome {
  readonly resolve: (reply: Reply) => void;
  readonly refuse: (message: string) => void;
}

function read(stream: ClientHttp2Stream, maxBytes: number, { resolve, refuse }: RpcOutcome): void {
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

/** A message on its way: whether it is compressed, its length, and its bytes, in as many pieces as the network likes. */

const HEAD_BYTES = 5;

export function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** What is wrong with the answer, for people. */
type Problem = string;

/** Takes the pieces of the one message that an answer may have. */
export class MessageReader {
  readonly #maxBytes: number;
  /** Joined once, at the end: thousands of tiny pieces must not be copied again and again. */
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #head: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What is wrong is told as soon as it can be known. */
  add(piece: Buffer): Problem | null {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#head.length < HEAD_BYTES) this.#head = Buffer.concat([this.#head, piece.subarray(0, HEAD_BYTES)]);
    if (this.#bytes < HEAD_BYTES) return null;
    const compression = this.#head[0]!;
    if (compression === 1) return 'the answer is compressed, which was not asked for';
    if (compression !== 0) return 'not a gRPC answer';
    if (this.#length > this.#maxBytes) return `the answer is longer than ${this.#maxBytes} bytes`;
    return this.#bytes > HEAD_BYTES + this.#length ? 'the answer has more than one message' : null;
  }

  /** When no more will come. Null: there was none. */
  end(): { readonly message: Buffer | null } | Problem {
    if (this.#bytes === 0) return { message: null };
    const isWhole = this.#bytes >= HEAD_BYTES && this.#bytes === HEAD_BYTES + this.#length;
    return isWhole ? { message: Buffer.concat(this.#pieces).subarray(HEAD_BYTES) } : 'the answer was cut off';
  }

  get #length(): number {
    return this.#head.readUInt32BE(1);
  }
}

// Why a connection did not bring an answer. Node tells it in several places at once, in an order that differs from case to case: so all of
// them are heard first, and the one that says most is told.

const NOT_HTTP2 = 'not an HTTP/2 answer: is this the port of a gRPC server, and does it want TLS?';

/** The error codes of HTTP/2 by number. */
const CODES: readonly string[] = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED'],
  ...['FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM'],
  ...['INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];
const codeName = (code: number): string => CODES[code] ?? `code ${code}`;

interface Heard {
  /** The server has begun to speak HTTP/2. */
  greeted: boolean;
  error: NodeJS.ErrnoException | null;
  goaway: number | null;
  /** Nothing more can come from this side. */
  ended: boolean;
  reset: number;
}

/** `tell` is called once, soon after the first sign of trouble, unless the caller has let go by then. */
export function watchTroubles(
  { session, stream, socket }: { session: ClientHttp2Session; stream: ClientHttp2Stream; socket: Socket },
  tell: (answer: Answer) => void,
): () => void {
  const heard: Heard = { greeted: false, error: null, goaway: null, ended: false, reset: 0 };
  let turn: NodeJS.Immediate | undefined;
  const soon = (): void => {
    turn ??= setImmediate(() => tell(judge(heard, socket)));
  };
  const failed = (error: NodeJS.ErrnoException): void => {
    heard.error ??= error;
    soon();
  };
  const ended = (): void => {
    heard.ended = true;
    soon();
  };
  const greeted = (): void => {
    heard.greeted = true;
  };
  const goaway = (code: number): void => {
    heard.goaway = code;
  };
  const closed = (): void => {
    heard.reset = stream.rstCode;
    soon();
  };
  for (const each of [session, stream]) each.on('error', () => {}); // for good: the end of the socket is an error to them
  session.on('remoteSettings', greeted).on('goaway', goaway).on('error', failed);
  stream.on('error', failed).on('close', closed);
  socket.on('end', ended).on('close', ended).on('error', failed);
  return () => {
    clearImmediate(turn);
    session.off('remoteSettings', greeted).off('goaway', goaway).off('error', failed);
    stream.off('error', failed).off('close', closed);
    socket.off('end', ended).off('close', ended).off('error', failed);
  };
}

function judge({ greeted, error, goaway, ended, reset }: Heard, { bytesRead }: Socket): Answer {
  const isOfHttp2 = error?.code?.startsWith('ERR_HTTP2') ?? false;
  if (error && !isOfHttp2) return tlsFailure(error);
  if (!greeted && (isOfHttp2 || (ended && bytesRead > 0))) return fail(NOT_HTTP2);
  if (goaway !== null) return fail(`the server ends the connection (GOAWAY, ${codeName(goaway)})`);
  if (ended) return fail('the connection was closed before an answer');
  if (error?.code === 'ERR_HTTP2_ERROR') return fail(`broken HTTP/2: ${error.message}`);
  return fail(reset === 0 ? 'the answer has no gRPC status' : `the server broke the answer off (${codeName(reset)})`);
}

/** How a gRPC call ended, by number and by name. */

export const OK = 0;
export const NOT_FOUND = 5;
export const PERMISSION_DENIED = 7;
export const UNIMPLEMENTED = 12;
export const UNAUTHENTICATED = 16;
const UNKNOWN = 2;
const INTERNAL = 13;
const UNAVAILABLE = 14;

const NAMES: readonly string[] = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
  ...['INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

export const statusName = (status: number): string => NAMES[status] ?? `status ${status}`;

/** What gRPC takes the answer of a proxy, or of a server without gRPC, for. */
const OF_HTTP: Readonly<Record<number, number>> = {
  400: INTERNAL,
  401: UNAUTHENTICATED,
  403: PERMISSION_DENIED,
  404: UNIMPLEMENTED,
  429: UNAVAILABLE,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
  504: UNAVAILABLE,
};

export const statusOfHttp = (status: number): number => OF_HTTP[status] ?? UNKNOWN;

// Puts one gRPC question to a server: a fresh connection, with TLS if wanted, and nothing left of it afterwards.

export interface Server {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Accept a certificate that cannot be verified. */
  readonly insecure: boolean;
  /** Whose certificate is expected; null: that of the host. */
  readonly serverName: string | null;
}

export type Question = Pick<Call, 'path' | 'message' | 'maxBytes'>;

/** Throws `Answered` when there is no answer of a gRPC server. */
export async function askServer(server: Server, question: Question, names: Names, deadline: Deadline): Promise<Reply> {
  const { tls, insecure, serverName } = server;
  const plain = await connect(server, names, deadline);
  const name = serverName ?? server.host;
  const socket = tls ? await secure(plain, { name, insecure, protocol: 'h2' }, deadline) : plain;
  const authority = serverName ?? hostAndPort(server);
  return call({ ...question, scheme: tls ? 'https' : 'http', authority }, socket, deadline);
}

/** The zone of an address means nothing to the other side. */
export function hostAndPort({ host, port }: Pick<Server, 'host' | 'port'>): string {
  const bare = host.replace(/%.*$/, '');
  return bare.includes(':') ? `[${bare}]:${port}` : `${bare}:${port}`;
}
