/**
 * One question over a unix socket: a connection of its own, an answer of bounded size, a deadline over all of it. An answer that
 * is cut off, or that stops in the middle, is no answer; Node alone would wait for its end for ever.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { after } from '../core/ids.ts';
import type { Clock } from '../ports/clock.ts';

export interface Question {
  readonly socketPath: string;
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
  const { socketPath, method, path, body, clock, timeoutMs, signal } = question;
  signal.throwIfAborted();
  const done = new AbortController();
  const headers = { Host: 'docker', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
  try {
    return await new Promise<Reply>((resolve, reject) => {
      const asked = request({ socketPath, method, path, agent: false, headers }, (answer) => {
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
        const busy = onPiece(chunk as Buffer);
        if (busy) await busy;
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
