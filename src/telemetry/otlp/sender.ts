/**
 * Posts bodies to one receiver. It never holds the process: neither its sockets nor its timers are waited for at the end. (The
 * exporters of OpenTelemetry hold it for up to ten seconds when a receiver is away; docs/decisions/0018-telemetry.md.)
 */
import { Agent, type ClientRequest, type IncomingMessage, request as plain } from 'node:http';
import { Agent as SecureAgent, request as secure } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Log } from '../../base/log.ts';
import { readRegularFile } from '../../base/regular-file.ts';
import type { Receiver, Signal } from '../settings.ts';

const CONTENT_TYPE = 'application/x-protobuf';
const MAX_SOCKETS = 2;
/** Bodies that wait for their answer; more are refused, so that memory has a bound. */
const MAX_UNDER_WAY = 4;
const RETRY_FIRST_MS = 1_000;
/** Statuses after which the standard asks to try again. */
const TRY_AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export interface Sender {
  /** Rejects with what went wrong, in a few words. Tries again within the time that the receiver is given. */
  send(body: Uint8Array): Promise<void>;
  /** What is under way is given up. */
  close(): void;
}

class Failure extends Error {
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean) {
    super(message);
    this.isPassing = isPassing;
  }
}

export function createSender(receiver: Receiver): Sender {
  const { url, headers, timeoutMs, gzip } = receiver;
  const isSecure = url.startsWith('https:');
  const agent = isSecure
    ? new SecureAgent({ keepAlive: true, maxSockets: MAX_SOCKETS, ...certificates(receiver) })
    : new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const over = new AbortController();
  let underWay = 0;
  /** Why what is under way has not arrived yet; null: nothing is known against it. */
  let lastProblem: string | null = null;

  const post = (body: Uint8Array, limitMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const encoding = gzip ? { 'Content-Encoding': 'gzip' } : {};
      const sent = (isSecure ? secure : plain)(url, {
        method: 'POST',
        agent,
        signal: over.signal,
        headers: { ...headers, ...encoding, 'Content-Type': CONTENT_TYPE, 'Content-Length': body.length },
      });
      const timer = setTimeout(() => sent.destroy(new Failure(`no answer within ${limitMs} ms`, true)), limitMs);
      timer.unref();
      sent.once('close', () => clearTimeout(timer));
      sent.once('error', (error) => reject(error instanceof Failure ? error : new Failure(error.message, true)));
      sent.once('response', (response) => answered(response, resolve, reject));
      notHolding(sent);
      sent.end(body);
    });

  const send = async (body: Uint8Array): Promise<void> => {
    const deadline = performance.now() + timeoutMs;
    for (let pauseMs = RETRY_FIRST_MS; ; pauseMs *= 2) {
      try {
        await post(body, Math.max(1, Math.ceil(deadline - performance.now())));
        lastProblem = null;
        return;
      } catch (error) {
        const isLast = performance.now() + pauseMs >= deadline;
        if (isLast || !(error as Failure).isPassing) throw error;
        lastProblem = (error as Failure).message;
        await sleep(pauseMs, undefined, { signal: over.signal, ref: false }).catch(() => {});
        if (over.signal.aborted) throw error;
      }
    }
  };

  return {
    send: async (body) => {
      if (underWay >= MAX_UNDER_WAY) throw new Failure(lastProblem ?? 'no answer yet to what was sent before', true);
      if (over.signal.aborted) throw new Failure('it is over', false);
      underWay += 1;
      try {
        await send(gzip ? gzipSync(body) : body);
      } finally {
        underWay -= 1;
      }
    },
    close: () => {
      over.abort();
      agent.destroy();
    },
  };
}

function answered(response: IncomingMessage, resolve: () => void, reject: (error: Failure) => void): void {
  const status = response.statusCode ?? 0;
  response.once('error', (error) => reject(new Failure(error.message, true)));
  response.once('end', () =>
    status >= 200 && status < 300 ? resolve() : reject(new Failure(`HTTP ${status}`, TRY_AGAIN.has(status))),
  );
  response.resume(); // what it says is of no use to anybody here
}

/** Also the sockets that are used again: the agent makes them count when it hands them out. */
function notHolding(sent: ClientRequest): void {
  sent.once('socket', (socket) => socket.unref());
}

function certificates({ caFile, certFile, keyFile }: Receiver) {
  return {
    ...(caFile === null ? {} : { ca: readRegularFile(caFile, { follow: true }) }),
    ...(certFile === null ? {} : { cert: readRegularFile(certFile, { follow: true }) }),
    ...(keyFile === null ? {} : { key: readRegularFile(keyFile, { follow: true }) }),
  };
}

// Says once that telemetry cannot be delivered, however long that lasts and however many signals it concerns.

export interface Outages {
  delivered(signal: Signal): void;
  failed(signal: Signal, problem: string): void;
}

/** `places`: where each signal goes, for people. */
export function watchOutages(log: Log, places: Readonly<Record<Signal, string>>): Outages {
  const out = new Map<Signal, string>();
  return {
    delivered: (signal) => void out.delete(signal),
    failed: (signal, problem) => {
      if (out.has(signal)) return;
      const isKnown = out.size > 0; // the same receiver, most likely, and it has been said
      out.set(signal, problem);
      if (!isKnown)
        log.warn('telemetry cannot be delivered, and is dropped until it can; nothing else is affected', {
          ...{ signal, to: places[signal], problem },
        });
    },
  };
}

/** Without user, password and query, which may be secrets. */
export function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
