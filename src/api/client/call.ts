/** One HTTP call over a unix socket: always with a deadline, errors as AppError. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { AppError, ERRORS, type ErrorCode, type ErrorView } from '../../base/pure/errors.ts';

/** No answer of the API comes near this. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface CallOptions {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** Default: application/json. */
  readonly accept?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The way to the socket of a daemon on another machine: it may have to be made first, and it may break. */
export interface Way {
  /** The socket here that leads there. */
  open(signal?: AbortSignal): Promise<string>;
  /** After a call through it failed: the socket to try once more where nothing was sent, or throws what is known about the failure. */
  mend(error: unknown, signal?: AbortSignal): Promise<string>;
}

/** Where a daemon is asked: its socket on this machine, or how to get the way to it. */
export type Address = string | (() => Promise<Way>);

/** Does one thing over the socket of a daemon. */
export async function over<T>(
  address: Address,
  signal: AbortSignal | undefined,
  act: (socket: string) => Promise<T>,
): Promise<T> {
  if (typeof address === 'string') return await act(address);
  const way = await address();
  const socket = await way.open(signal);
  try {
    return await act(socket);
  } catch (error) {
    return await act(await way.mend(error, signal));
  }
}

/** A daemon that is too busy has not begun: it is asked again after about so long. */
const BUSY_PAUSE_MS = 200;

/**
 * The parsed answer. Throws DAEMON_NOT_RUNNING, DAEMON_UNREACHABLE, or the error the daemon answered with; DAEMON_BUSY only when it had
 * no place for us until the time was up.
 */
export async function callJson<T>(address: Address, options: CallOptions): Promise<T> {
  return await over(address, options.signal, (socket) => callSocket<T>(socket, options));
}

async function callSocket<T>(socket: string, options: CallOptions): Promise<T> {
  const until = performance.now() + options.timeoutMs;
  for (let tries = 1; ; tries++) {
    try {
      return await callOnce<T>(socket, { ...options, timeoutMs: Math.max(1, until - performance.now()) });
    } catch (error) {
      const pauseMs = BUSY_PAUSE_MS * Math.min(tries, 5) * (0.5 + Math.random());
      const isBusy = error instanceof AppError && error.code === 'DAEMON_BUSY';
      if (!isBusy || performance.now() + pauseMs >= until) throw error;
      await pause(pauseMs, options.signal);
    }
  }
}

/** Rejects with the reason of the signal. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

async function callOnce<T>(socket: string, options: CallOptions): Promise<T> {
  const text = await new Promise<string>((resolve, reject) => {
    const sent = begin(socket, options);
    const timer = setTimeout(() => {
      sent.destroy();
      reject(unreachable(`no answer within ${Math.round(options.timeoutMs)} ms.`));
    }, options.timeoutMs);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      finish();
    };
    sent.on('error', (error) => settle(() => reject(connectionError(error, options.signal))));
    sent.once('response', (response) => {
      readAll(response).then(
        (all) => settle(() => (isGood(response) ? resolve(all) : reject(errorFrom(all, response.statusCode)))),
        (error: Error) => settle(() => reject(connectionError(error, options.signal))),
      );
    });
  });
  try {
    return JSON.parse(text) as T;
  } catch {
    throw unreachable('its answer is not JSON.');
  }
}

/** Sends the request; the caller listens to 'response' and 'error'. */
export function begin(socket: string, options: Omit<CallOptions, 'timeoutMs'>): ClientRequest {
  const { method, path, body, signal, accept = 'application/json' } = options;
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sent = request({
    // Instead of `socketPath` with an agent: the agent's address checks alone cost 5 ms of start-up (measured on Node 20).
    createConnection: () => connect(socket),
    method,
    path,
    ...(signal ? { signal } : {}),
    headers: {
      Host: 'keepwell',
      Accept: accept,
      ...(payload ? { 'Content-Type': 'application/json', 'Content-Length': payload.length } : {}),
    },
  });
  sent.end(payload);
  return sent;
}

export const isGood = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

export async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('its answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const unreachable = (problem: string): AppError => new AppError('DAEMON_UNREACHABLE', { problem });

/** Nobody listens: not running. Anything else: somebody is there, and something is wrong. */
export function connectionError(error: NodeJS.ErrnoException, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') return new AppError('DAEMON_NOT_RUNNING');
  const problem = ['ECONNRESET', 'EPIPE'].includes(error.code ?? '')
    ? 'it closed the connection.'
    : `${error.message}.`;
  return new AppError('DAEMON_UNREACHABLE', { problem }, { cause: error });
}

/** The daemon's error as if it had been thrown here; a newer daemon may use codes this client has never heard of. */
export function errorFrom(text: string, status: number | undefined): AppError {
  try {
    const { error } = JSON.parse(text) as ErrorView;
    if (Object.hasOwn(ERRORS, error.code)) return new AppError(error.code as ErrorCode, error.details);
    return new AppError('INTERNAL', { problem: `${error.message} (${error.code})` });
  } catch {
    return unreachable(`it answered with status ${status ?? 'unknown'} and no reason.`);
  }
}
