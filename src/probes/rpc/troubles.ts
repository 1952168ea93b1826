/**
 * Why a connection did not bring an answer. Node tells it in several places at once, in an order that differs from case to case: so
 * all of them are heard first, and the one that says most is told.
 */
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { fail } from '../answers.ts';
import { tlsFailure } from '../net/tls.ts';

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
