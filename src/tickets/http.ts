/**
 * One HTTP request, once: within a time limit over everything, with a bounded answer, without following redirects and without
 * keeping the connection. What goes wrong is put into words that name the host and nothing else: addresses may hold secrets.
 */
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { formatDuration } from '../core/format.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** In lower case; one of several with the same name. */
  readonly header: (name: string) => string | null;
  /** The beginning of it, up to `MAX_ANSWER_BYTES`. */
  readonly text: string;
}

/** `failed`: there is no whole answer, so nobody knows whether it was done. */
export type HttpOutcome =
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  | { readonly kind: 'failed'; readonly why: string };

/** A hundred issues with long bodies. What is longer is cut, and then is no JSON. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export async function ask(request: HttpRequest, signal: AbortSignal): Promise<HttpOutcome> {
  const limit = AbortSignal.timeout(request.timeoutMs);
  const either = AbortSignal.any([limit, signal]);
  const host = hostOf(request.url);
  try {
    return { kind: 'answered', answer: await exchange(request, either) };
  } catch (error) {
    const late = `${host} did not answer within ${formatDuration(request.timeoutMs)}`;
    return { kind: 'failed', why: limit.aborted ? late : `${host} cannot be asked: ${inWords(error)}` };
  }
}

export const hostOf = (url: string): string => new URL(url).host;

function exchange({ method, url, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const sent = {
    ...headers,
    ...(bytes === null ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
  };
  const begin = new URL(url).protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const request = begin(url, { method, headers: sent, agent: false, signal }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= MAX_ANSWER_BYTES) chunks.push(chunk);
        else response.destroy(new Error('its answer is too long'));
      });
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('the answer was cut off')));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          header: (name) => [response.headers[name]].flat()[0] ?? null,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    request.on('error', reject);
    request.end(bytes);
  });
}

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
  return message === 'the answer was cut off' || message === 'its answer is too long' ? message : code || 'failed';
}

/** An object, or null when the text is none. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = jsonValue(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const MAX_ADDRESS_CHARS = 500;

/** An address that a tracker gave, if it is one that can be shown as a link. */
export function webAddress(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_ADDRESS_CHARS || !URL.canParse(value)) return null;
  const { protocol, username, password, href } = new URL(value);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? href : null;
}
