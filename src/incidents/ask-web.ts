/** One HTTP request, once: within a time limit over everything, with a bounded answer, and with what goes wrong put into words. */
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { formatDuration } from '../base/pure/format.ts';
import type { Clock } from '../base/clock.ts';
import type { Ask, HttpAnswer, HttpRequest } from './web.ts';
import { hostOf } from './web-address.ts';

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
