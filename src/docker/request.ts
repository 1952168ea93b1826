/**
 * One question to the Engine: a connection of its own, an answer of bounded size, a deadline over all of it. An answer that
 * is cut off, or that stops in the middle, is no answer; Node alone would wait for its end for ever.
 */
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { after } from '../base/pure/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Address } from './address.ts';

export interface Question {
  readonly address: Address;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent as JSON; absent: none. */
  readonly body?: unknown;
  readonly clock: Clock;
  /** Null: for as long as `signal` allows. */
  readonly timeoutMs: number | null;
  readonly maxBytes: number;
  /**
   * Gets the body of a successful answer piece by piece, of any size; absent: it is collected. Throws when it makes no sense.
   * When it returns a promise, nothing more is read until then.
   */
  readonly onPiece?: ((piece: Buffer) => void | Promise<void>) | undefined;
  /** A successful answer has begun. */
  readonly onOpen?: (() => void) | undefined;
  readonly signal: AbortSignal;
}

/** `code`: of the system error, or one of ours. */
export type Reply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: string;
    }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

const failed = (code: string, message: string): Reply => ({ kind: 'failed', code, message });

/** Rejects only when `signal` aborts. */
export async function ask(question: Question): Promise<Reply> {
  const { address, method, path, body, clock, timeoutMs, signal } = question;
  signal.throwIfAborted();
  const done = new AbortController();
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  try {
    return await new Promise<Reply>((resolve, reject) => {
      const asked = connect(address, { method, path, agent: false, headers }, (answer) => {
        collect(answer, question).then(resolve, reject);
      });
      const onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      done.signal.addEventListener('abort', () => {
        signal.removeEventListener('abort', onAbort);
        asked.destroy();
      });
      asked.on('error', (error: NodeJS.ErrnoException) => resolve(failed(error.code ?? '', error.message)));
      asked.end(body === undefined ? undefined : JSON.stringify(body));
      if (timeoutMs === null) return;
      clock.sleepUntil(after(clock.now(), timeoutMs), done.signal).then(
        () => resolve(failed('DEADLINE', `no complete answer within ${timeoutMs / 1000} s`)),
        () => {}, // answered in time
      );
    });
  } finally {
    done.abort();
  }
}

/** How long a connection is silent before the system asks whether the other end is still there. */
const KEEP_ALIVE_MS = 15_000;

type Options = Pick<RequestOptions, 'method' | 'path' | 'agent'> & {
  readonly headers: Readonly<Record<string, string>>;
};

function connect(address: Address, options: Options, onAnswer: (answer: IncomingMessage) => void) {
  if (address.kind === 'socket')
    return request({ ...options, socketPath: address.path, headers: { ...options.headers, Host: 'docker' } }, onAnswer);
  const { host, port, tls } = address;
  const { verify = true, ...credentials } = tls ?? {};
  const asked = tls
    ? secureRequest({ ...options, host, port, ...credentials, rejectUnauthorized: verify }, onAnswer)
    : request({ ...options, host, port }, onAnswer);
  asked.setSocketKeepAlive(true, KEEP_ALIVE_MS);
  return asked;
}

async function collect(answer: IncomingMessage, { maxBytes, onPiece, onOpen }: Question): Promise<Reply> {
  const status = answer.statusCode ?? 0;
  const isStreamed = onPiece !== undefined && status === 200;
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (status === 200) onOpen?.();
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      if (isStreamed) {
        await onPiece(chunk as Buffer);
        continue;
      }
      if (bytes > maxBytes) return failed('TOO_LARGE', `the answer is larger than ${maxBytes} bytes`);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    return failed('CUT_OFF', `the answer was cut off after ${bytes} bytes (${(error as Error).message})`);
  }
  return { kind: 'answered', status, headers: answer.headers, body: Buffer.concat(chunks).toString('utf8') };
}
