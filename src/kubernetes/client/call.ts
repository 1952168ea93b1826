/** One question to the API server: credentials, a deadline over the whole answer, an answer of bounded size, and every way to fail as a sentence. */

import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, type RequestOptions, request as secureRequest } from 'node:https';
import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import type { ClusterAccess } from '../rules/kubeconfig.ts';
import { CredentialSource, type Credentials } from './credentials.ts';

export interface Call {
  readonly method?: 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  /** "/api/v1/namespaces/shop/pods" */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | null>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** Gets the body of a good answer piece by piece, of any size and for as long as it comes; absent: it is collected. */
  readonly onPiece?: (piece: Buffer) => void | Promise<void>;
  /** A good answer has begun. */
  readonly onOpen?: () => void;
  /** Of a stream: for so long it may be silent; null: for ever. */
  readonly silentMs?: number | null;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** The server could not be asked, or said no. `status`: 0 when it gave no answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** In the words of Kubernetes: "NotFound", "Conflict", "Invalid", "Expired". Empty: it gave none. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.reason = reason;
  }

  /** Nothing is known: trying again may help. */
  get isUnanswered(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

const ANSWER_WITHIN_MS = 15_000;
/** A page of pods is a few MiB. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20;
const MAX_ERROR_BYTES = 64 * 1024;
/** How long a connection is silent before the system asks whether the other end is still there. */
const KEEP_ALIVE_MS = 15_000;
/** The server has its own limits; this keeps a storm of deaths from taking all of them. */
const MAX_CONNECTIONS = 10;

export class Caller {
  readonly access: ClusterAccess;
  readonly #credentials: CredentialSource;
  readonly #clock: Clock;
  readonly #agent: Agent | PlainAgent;
  readonly #isSecure: boolean;

  constructor(access: ClusterAccess, env: Readonly<Record<string, string | undefined>>, clock: Clock) {
    this.access = access;
    this.#credentials = new CredentialSource(access, env, clock);
    this.#clock = clock;
    this.#isSecure = access.server.startsWith('https:');
    const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, keepAliveMsecs: KEEP_ALIVE_MS };
    this.#agent = this.#isSecure ? new Agent(options) : new PlainAgent(options);
  }

  /** Resolves with the text of a good answer; empty for a stream. Rejects with an ApiError, or when `signal` aborts. */
  async ask(call: Call, signal: AbortSignal): Promise<string> {
    try {
      return await this.#once(call, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      this.#credentials.forget(); // a token may have been replaced
      return await this.#once(call, signal);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #once(call: Call, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    let credentials: Credentials;
    try {
      credentials = await this.#credentials.get();
    } catch (error) {
      throw new ApiError(0, '', (error as Error).message, { cause: error });
    }
    const done = new AbortController();
    try {
      return await new Promise<string>((resolve, reject) => {
        const onAbort = () => reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        const timer = new Deadline(this.#clock, done.signal, (ms) =>
          reject(
            new ApiError(0, '', `the API server ${this.access.server} gave no complete answer within ${ms / 1_000} s`),
          ),
        );
        const asked = this.#request(call, credentials, (answer) => {
          if (call.onPiece && isGood(answer)) timer.begin(call.silentMs ?? null);
          this.#read(answer, call, () => timer.again()).then(resolve, reject);
        });
        done.signal.addEventListener('abort', () => {
          signal.removeEventListener('abort', onAbort);
          asked.destroy();
        });
        asked.on('error', (error: NodeJS.ErrnoException) =>
          reject(new ApiError(0, '', unreachable(this.access, error), { cause: error })),
        );
        asked.end(bodyOf(call));
        timer.begin(call.timeoutMs ?? ANSWER_WITHIN_MS);
      });
    } finally {
      done.abort();
    }
  }

  #request(call: Call, credentials: Credentials, onAnswer: (answer: IncomingMessage) => void) {
    const url = new URL(`${this.access.server}${call.path}`);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== null) url.searchParams.set(name, String(value));
    const headers: Record<string, string> = { Accept: 'application/json', 'User-Agent': 'keepwell' };
    if (call.body !== undefined) {
      headers['Content-Type'] = call.contentType ?? 'application/json';
      headers['Content-Length'] = String(Buffer.byteLength(bodyOf(call)!)); // Node sends none with DELETE
    }
    if (credentials.token !== null) headers['Authorization'] = `Bearer ${credentials.token}`;
    const options: RequestOptions = {
      method: call.method ?? 'GET',
      headers,
      agent: call.onPiece ? false : this.#agent, // streams last: they have connections of their own
    };
    const asked = this.#isSecure
      ? secureRequest(url, { ...options, ...tls(this.access, credentials) }, onAnswer)
      : plainRequest(url, options, onAnswer);
    asked.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    return asked;
  }

  async #read(answer: IncomingMessage, call: Call, alive: () => void): Promise<string> {
    const isStream = call.onPiece !== undefined && isGood(answer);
    const maxBytes = isGood(answer) ? (call.maxBytes ?? MAX_ANSWER_BYTES) : MAX_ERROR_BYTES;
    const pieces: Buffer[] = [];
    let bytes = 0;
    if (isGood(answer)) call.onOpen?.();
    try {
      for await (const piece of answer as AsyncIterable<Buffer>) {
        alive();
        if (isStream) {
          await call.onPiece!(piece);
          continue;
        }
        bytes += piece.length;
        if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
        pieces.push(piece);
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw new ApiError(
        0,
        '',
        `the answer of the API server ${this.access.server} was cut off: ${(error as Error).message}`,
      );
    }
    const text = Buffer.concat(pieces).toString('utf8');
    if (isGood(answer)) return text;
    throw refusal(answer.statusCode ?? 0, text);
  }
}

const bodyOf = ({ body }: Call): string | undefined => (body === undefined ? undefined : JSON.stringify(body));

const isGood = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

const tls = ({ verify, serverName }: ClusterAccess, { ca, cert, key }: Credentials): RequestOptions => ({
  ...(ca === undefined ? {} : { ca }),
  ...(cert === undefined ? {} : { cert }),
  ...(key === undefined ? {} : { key }),
  ...(serverName === null ? {} : { servername: serverName }),
  rejectUnauthorized: verify,
});

/** One deadline that can be moved. */
class Deadline {
  readonly #clock: Clock;
  readonly #done: AbortSignal;
  readonly #over: (ms: number) => void;
  #ms: number | null = null;
  #until = 0;
  #isWaiting = false;

  constructor(clock: Clock, done: AbortSignal, over: (ms: number) => void) {
    this.#clock = clock;
    this.#done = done;
    this.#over = over;
  }

  begin(ms: number | null): void {
    this.#ms = ms;
    this.again();
    if (!this.#isWaiting) void this.#wait();
  }

  again(): void {
    this.#until = this.#ms === null ? Number.POSITIVE_INFINITY : this.#clock.now() + this.#ms;
  }

  async #wait(): Promise<void> {
    this.#isWaiting = true;
    try {
      while (this.#ms !== null) {
        const leftMs = this.#until - this.#clock.now();
        if (leftMs <= 0) {
          this.#over(this.#ms);
          return;
        }
        await this.#clock.sleepUntil(after(this.#clock.now(), Math.min(leftMs, this.#ms)), this.#done);
      }
    } catch {
      // answered in time
    } finally {
      this.#isWaiting = false;
    }
  }
}

/** What the server says it did not like, in its own words. */
export function refusal(status: number, text: string): ApiError {
  let said: { readonly message?: unknown; readonly reason?: unknown } = {};
  try {
    said = (JSON.parse(text) ?? {}) as typeof said;
  } catch {
    // a proxy may answer in its own way
  }
  const message = typeof said.message === 'string' && said.message !== '' ? said.message : text.trim().slice(0, 300);
  const reason = typeof said.reason === 'string' ? said.reason : '';
  return new ApiError(status, reason, message === '' ? `the API server answered with status ${status}` : message);
}

function unreachable({ server, name }: ClusterAccess, { code = '', message }: NodeJS.ErrnoException): string {
  const where = `the API server ${server} (context "${name}")`;
  switch (code) {
    case 'ECONNREFUSED':
      return `${where} refuses the connection: it does not run, or the address is wrong`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name of ${where} cannot be resolved (${code})`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return `the certificate of ${where} is not signed by the certificate authority of the kubeconfig (${code})`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate of ${where} is made for another name: ${message}`;
    case 'CERT_HAS_EXPIRED':
      return `the certificate of ${where} has expired`;
    default:
      return `${where} cannot be asked: ${message || code}`;
  }
}
