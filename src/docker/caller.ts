/** Puts questions to the Engine wherever it listens now, and turns every way not to be answered into a sentence. */

import { setMaxListeners } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Clock } from '../base/clock.ts';
import { after } from '../base/pure/ids.ts';
import { createSemaphore } from '../base/semaphore.ts';
import {
  type Address,
  addressText,
  type Endpoint,
  type EngineEnv,
  findEndpoint,
  isInstalled,
  type Places,
} from './endpoint.ts';
import { fieldsOf, listOf, parseJson, parseMessage, textOf } from './json.ts';
import type { ActionResult, Creation, Unreachable } from './ports.ts';
import { blame } from './rules/exit.ts';

/** For a whole answer, from the connection to its last byte, where nobody says otherwise. */
export const ANSWER_WITHIN_MS = 5_000;
/** An inspection is a few KiB, with the longest health log some dozens. */
export const MAX_ANSWER_BYTES = 2 ** 20;
/** The Engine has no limit of its own: it takes everything on and gets slow for everybody. */
const MAX_CALLS = 12;
/** More starts at once are no faster, each only takes longer. */
const MAX_STARTS = 4;

/** What the Engine says to a question in the clear on its port for encrypted connections. */
const WANTS_TLS = /HTTP request to an HTTPS server/i;

export type Answer = Extract<Reply, { kind: 'answered' }>;
type Call = Pick<Question, 'path' | 'body' | 'onPiece' | 'onOpen'> & {
  readonly method?: Question['method'];
  /** For those that take long by nature; absent: as everybody. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Which queue it stands in. `none`: it costs the Engine nothing while it lasts. Absent: `call`, and `none` with `onPiece`. */
  readonly turn?: 'call' | 'start' | 'none';
};

/**
 * `call` with `onPiece` takes as long as `signal` allows, every other one has its deadline besides, which begins when it is its
 * turn. Rejects only when `signal` aborts.
 */
export type Caller = (call: Call, signal: AbortSignal) => Promise<Answer | Unreachable>;

export const unreachable = (why: string): Unreachable => ({ kind: 'unreachable', why });

export const isUnreachable = (answer: Answer | Unreachable): answer is Unreachable => answer.kind === 'unreachable';

/** For an answer that says nothing about what was asked. */
export function odd({ status, body }: Pick<Answer, 'status' | 'body'>): Unreachable {
  const message = parseMessage(body);
  return unreachable(`the Docker Engine answered with status ${status}${message ? `: ${message}` : ''}`);
}

interface CallerOptions {
  readonly env: EngineEnv;
  readonly clock: Clock;
  readonly places: Places;
  /** Null: whoever asks keeps the time. */
  readonly answerWithinMs: number | null;
}

/** The endpoint is looked up for every question: it costs next to nothing, and an Engine may be installed while we run. */
export function createCaller({ env, clock, places, answerWithinMs }: CallerOptions): Caller {
  const calls = createSemaphore(MAX_CALLS);
  const starts = createSemaphore(MAX_STARTS);

  async function put(call: Call, signal: AbortSignal): Promise<Answer | Unreachable> {
    const endpoint = findEndpoint(env, places);
    if ('why' in endpoint) return { ...unreachable(endpoint.why), isHopeless: true };
    const { path, body, onPiece, onOpen, method = 'GET', maxBytes = MAX_ANSWER_BYTES } = call;
    const timeoutMs = call.timeoutMs ?? (onPiece ? null : answerWithinMs);
    const { address } = endpoint;
    const reply = await ask({ address, method, path, body, onPiece, onOpen, clock, signal, timeoutMs, maxBytes });
    if (reply.kind !== 'answered') return unreachable(explain(reply, endpoint, env, places));
    const { status, body: said } = reply;
    return status === 400 && WANTS_TLS.test(said) ? unreachable(wantsTls(endpoint)) : reply;
  }

  return async (call, signal) => {
    // Hundreds may ask with one and the same: that is no leak, and Node would warn of one.
    setMaxListeners(0, signal);
    const turn = call.turn ?? (call.onPiece ? 'none' : 'call');
    const started = turn === 'start' ? await starts.take(signal) : null;
    try {
      const called = turn === 'none' ? null : await calls.take(signal);
      try {
        return await put(call, signal);
      } finally {
        called?.();
      }
    } finally {
      started?.();
    }
  };
}

// One question to the Engine: a connection of its own, an answer of bounded size, a deadline over all of it. An answer that is cut off, or
// that stops in the middle, is no answer; Node alone would wait for its end for ever.

interface Question {
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
type Reply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: string;
    }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

const failed = (code: string, message: string): Reply => ({ kind: 'failed', code, message });

/** Rejects only when `signal` aborts. */
async function ask(question: Question): Promise<Reply> {
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

// Why the Engine could not be asked, as a sentence that says what to do about it.

interface Failure {
  readonly code: string;
  readonly message: string;
}

function explain({ code, message }: Failure, endpoint: Endpoint, env: EngineEnv, places: Places): string {
  const { address, namedBy } = endpoint;
  const place = addressText(address);
  const where = namedBy === null ? place : `${place} (named by ${namedBy})`;
  const start = address.kind === 'socket' ? 'start it, for instance with "systemctl start docker"' : 'start it there';
  switch (code) {
    case 'ENOENT':
      if (namedBy === null && !isInstalled(env, places))
        return `no Docker Engine is installed here, and there is no ${place}: install Docker, or set DOCKER_HOST to the socket it listens on`;
      return `the Docker Engine is not running, there is no ${where}: ${start}`;
    case 'ECONNREFUSED':
      return `the Docker Engine is not running, nobody listens on ${where}: ${start}`;
    case 'EACCES':
    case 'EPERM':
      return `permission to use ${where} was denied: let the user that runs Keepwell join the group "docker", or run Keepwell as root`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name of the machine with the Docker Engine, ${where}, cannot be resolved (${code})`;
    case 'EMFILE':
    case 'ENFILE':
      return `the Docker Engine could not be asked, too many files are open (${code}): raise the limit of open files`;
    case 'DEADLINE':
      return `the Docker Engine at ${where} hangs or is overloaded, ${message}: see whether "docker ps" answers, and restart the Engine if it does not`;
    default:
      return `the Docker Engine at ${where} gave no usable answer: ${message}`;
  }
}

const wantsTls = ({ address }: Endpoint): string =>
  `the Docker Engine at ${addressText(address)} wants an encrypted connection: set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the folder with ca.pem, cert.pem and key.pem`;

// What an answer to "do this" means, and whose fault it is when it was not done.

type Fault = Extract<ActionResult, { kind: 'refused' | 'engine-fault' }>;

function fault({ status, body }: Pick<Answer, 'status' | 'body'>): Fault {
  const why = parseMessage(body) || `the Docker Engine answered with status ${status} and no reason`;
  return faultOf(why, status < 500);
}

/** `isRefusal`: what to think when the words do not tell. */
export function faultOf(why: string, isRefusal: boolean): Fault {
  const whose = blame(why);
  return { kind: whose === 'container' || (whose === 'untold' && isRefusal) ? 'refused' : 'engine-fault', why };
}

interface ExpectedAnswer {
  /** Of what it was asked, by id or name: an Engine may as well miss another one, whose network this one shares. */
  readonly of: string;
  /** Answers that mean "it is so already", by their message. */
  readonly done?: RegExp;
}

export function actionResult(answer: Answer | Unreachable, { of, done }: ExpectedAnswer): ActionResult {
  if (isUnreachable(answer)) return answer;
  if ((answer.status >= 200 && answer.status < 300) || answer.status === 304) return { kind: 'done' };
  const message = parseMessage(answer.body);
  if (done?.test(message)) return { kind: 'done' };
  if (answer.status === 404 && GONE.test(message) && message.includes(of)) return { kind: 'missing' };
  if (answer.status === 409 && GOING.test(message)) return { kind: 'missing' };
  return fault(answer);
}

/** Not "no such image", not "network … not found" of a container that is to be started in it, not "page not found". */
const GONE = /no such container|no container with name or id/i;
/** Somebody is removing it right now. */
const GOING = /marked for removal|removal of container .* is already in progress/i;
/** Docker and Podman, containers and networks. */
const NAME_TAKEN = /name .*already (in use|exists|used)/i;
const NO_IMAGE = /no such image|image not known/i;

export function creation(answer: Answer | Unreachable): Creation {
  if (isUnreachable(answer)) return answer;
  const why = parseMessage(answer.body);
  if (answer.status === 404 && NO_IMAGE.test(why)) return { kind: 'no-image', why };
  if ((answer.status === 409 || answer.status >= 500) && NAME_TAKEN.test(why)) return { kind: 'name-taken', why };
  if (answer.status !== 201) return fault(answer);
  const { Id, Warnings, Warning } = fieldsOf(parseJson(answer.body)) ?? {};
  if (typeof Id !== 'string') return unreachable(NOT_AN_ENGINE);
  return {
    kind: 'created',
    id: Id,
    warnings: [...listOf(Warnings), Warning].map(textOf).filter((text) => text !== ''),
  };
}

export const NOT_AN_ENGINE = 'what answered is not a Docker Engine, or one that we do not understand';
