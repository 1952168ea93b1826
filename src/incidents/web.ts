/** Asking servers on the web: trackers of tickets, and those who are told of alerts. */

import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Clock } from '../base/clock.ts';
import { formatDuration } from '../base/pure/format.ts';
import { type RetryAnswer, retryAfterMs } from '../base/pure/retry-after.ts';
import { type DeliveryResult, later, refused } from './delivery-queue.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Over everything. */
  readonly timeoutMs: number;
  /** `head`: nobody wants to know what follows it, and it is not waited for. */
  readonly reads: 'all' | 'head';
}

export interface HttpAnswer extends RetryAnswer {
  readonly status: number;
  readonly text: string;
}

/** `failed`: there is no answer as it was wanted, so nobody knows whether it was done. `why` names the host and nothing else of the address. */
export type HttpOutcome =
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  | { readonly kind: 'failed'; readonly why: string };

/** One request, once. Never rejects, follows no redirect and keeps no connection. */
export type Ask = (request: HttpRequest, signal: AbortSignal) => Promise<HttpOutcome>;

/** Addresses on the web. Those of webhooks are secrets: only the host of one is ever named. */

export const hostOf = (url: string): string =>
  URL.canParse(url) ? new URL(url).host : 'an address that cannot be read';

const MAX_ADDRESS_CHARS = 500;

/** An address that somebody gave, if it is one that can be shown as a link. */
export function shownAddress(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_ADDRESS_CHARS || !URL.canParse(value)) return null;
  const { protocol, username, password, href } = new URL(value);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? href : null;
}

// One HTTP request, once: within a time limit over everything, with a bounded answer, and with what goes wrong put into words.

/** A hundred issues with long bodies. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export function createAsk(clock: Pick<Clock, 'wallNow'>): Ask {
  return async (request, signal) => {
    const limit = AbortSignal.timeout(request.timeoutMs);
    const host = hostOf(request.url);
    try {
      return { kind: 'answered', answer: await exchange(request, AbortSignal.any([limit, signal]), clock) };
    } catch (error) {
      const late = `${host} did not answer within ${formatDuration(request.timeoutMs)}`;
      return { kind: 'failed', why: limit.aborted ? late : `${host} cannot be asked: ${inWords(error)}` };
    }
  };
}

function exchange(
  { method, url, headers, body, reads }: HttpRequest,
  signal: AbortSignal,
  clock: Pick<Clock, 'wallNow'>,
): Promise<HttpAnswer> {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const sent = {
    'user-agent': 'keepwell',
    ...headers,
    ...(bytes === null ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
  };
  const begin = new URL(url).protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const request = begin(url, { method, headers: sent, agent: false, signal }, (response) => {
      const answer = {
        status: response.statusCode ?? 0,
        header: (name: string) => [response.headers[name]].flat()[0] ?? null,
        at: clock.wallNow(),
      };
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('error', reject);
      response.on('aborted', () => reject(new Error(CUT_OFF)));
      if (reads === 'head') {
        resolve({ ...answer, text: '' });
        response.destroy();
        return;
      }
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= MAX_ANSWER_BYTES) chunks.push(chunk);
        else response.destroy(new Error(TOO_LONG));
      });
      response.on('end', () => resolve({ ...answer, text: Buffer.concat(chunks).toString('utf8') }));
    });
    request.on('error', reject);
    request.end(bytes);
  });
}

const CUT_OFF = 'the answer was cut off';
const TOO_LONG = 'its answer is too long';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name cannot be looked up now',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no way to it',
  ENETUNREACH: 'no network',
  ABORT_ERR: 'called off',
};

function inWords(error: unknown): string {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (Object.hasOwn(WORDS, code)) return WORDS[code]!;
  // Of certificates, and of answers that are no HTTP: their words have no part of what was sent.
  if (/^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|HPE_)/.test(code)) return code;
  return message === CUT_OFF || message === TOO_LONG ? message : code || 'failed';
}

// Posts JSON and tells what came of it.

const POST_TIMEOUT_MS = 10_000;
const RETRIED: ReadonlySet<number> = new Set([408, 421, 425, 429]);

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export async function post(ask: Ask, { url, headers = {}, body }: Post, signal: AbortSignal): Promise<DeliveryResult> {
  const outcome = await ask({ method: 'POST', url, headers, body, timeoutMs: POST_TIMEOUT_MS, reads: 'head' }, signal);
  return outcome.kind === 'failed' ? later(outcome.why) : answered(outcome.answer);
}

function answered(answer: HttpAnswer): DeliveryResult {
  const { status } = answer;
  if (status >= 200 && status < 300) return { ok: true };
  if (status >= 300 && status < 400) return refused(`it answered ${status}: redirects are not followed`);
  const problem = `it answered ${status}`;
  return status >= 500 || RETRIED.has(status) ? later(problem, retryAfterMs(answer)) : refused(problem);
}
