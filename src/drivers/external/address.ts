/** A target that is known by the address it listens on: it is there when a TCP connection can be made. */

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { createConnection, isIP, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { hangUp } from '../../base/hang-up.ts';
import { after } from '../../base/pure/ids.ts';
import { gone, type TargetObservation, type TargetWatch, there, unknown } from './target.ts';

/** For the name and the connection together. */
export const CONNECT_WITHIN_MS = 1_000;
/** A deadline that is noticed this late was missed by us, not by the target: this process was held up. */
const STALL_MS = 500;
/** Trouble on our side, or with the name server (EAI_…). It says nothing about who should have been asked. */
const OURS = /^(EMFILE|ENFILE|ENOMEM|ENOBUFS|EAGAIN|EADDRNOTAVAIL|EACCES|EPERM|EAI_.*)$/;

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function addressTarget(address: Address, clock: Clock, names: Names): TargetWatch {
  const where = describeAddress(address);
  return {
    failuresNeeded: 3,
    asks: where,
    look: async (_known, signal) => {
      signal.throwIfAborted();
      const done = new AbortController();
      const quit = () => done.abort(signal.reason);
      signal.addEventListener('abort', quit, { once: true });
      try {
        return await attempt(address, clock, names, done.signal);
      } catch (error) {
        signal.throwIfAborted();
        return failure(where, error);
      } finally {
        signal.removeEventListener('abort', quit);
        done.abort();
      }
    },
  };
}

const describeAddress = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

function attempt(address: Address, clock: Clock, names: Names, signal: AbortSignal): Promise<TargetObservation> {
  const where = describeAddress(address);
  let isResolved = false;
  const connection = async (): Promise<TargetObservation> => {
    const addresses = await names.addresses(address.host);
    isResolved = true;
    signal.throwIfAborted();
    // With the addresses given, no name is looked up a second time.
    const socket = createConnection({ ...address, lookup: (_host, _options, answer) => answer(null, [...addresses]) });
    return established(socket, where, signal);
  };
  const deadline = async (): Promise<TargetObservation> => {
    const at = after(clock.now(), CONNECT_WITHIN_MS);
    await clock.sleepUntil(at, signal);
    if (!isResolved) return unknown(`the address of ${address.host} was not found out within ${CONNECT_WITHIN_MS} ms`);
    if (clock.now() - at > STALL_MS) return unknown(`the question to ${where} was held up on our side`);
    return gone(`no connection to ${where} within ${CONNECT_WITHIN_MS} ms`);
  };
  return Promise.race([connection(), deadline()]);
}

async function established(socket: Socket, where: string, signal: AbortSignal): Promise<TargetObservation> {
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.on('error', reject);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return isSelf(socket) ? gone(`nobody listens on ${where}`) : there({ pid: null, identity: where });
  } finally {
    void hangUp(socket);
  }
}

/** The kernel may give us the very port we ask for as our own; the two ends then meet, and nobody else is there. */
const isSelf = ({ localPort, localAddress, remotePort, remoteAddress }: Socket): boolean =>
  localPort === remotePort && localAddress === remoteAddress;

function failure(where: string, error: unknown): TargetObservation {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map((each) => (each as NodeJS.ErrnoException).code ?? String(each));
  const why = `no connection to ${where} (${[...new Set(codes)].join(', ')})`;
  // An address that this machine cannot even try (IPv6 is off) does not excuse the one that refused.
  return codes.every((code) => OURS.test(code)) ? unknown(why) : gone(why);
}

// From a host name to addresses. The system's resolver cannot be called off and holds one of the few threads that also serve files, so all
// who ask share one: name servers that do not answer cost one thread, and nobody a second question.

export interface Names {
  /** Takes as long as the system's resolver takes. Rejects with its error. */
  addresses(host: string): Promise<readonly LookupAddress[]>;
}

/** Both are the machine itself; many servers listen on one of them only. */
const LOCALHOST: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const askSystem = (host: string): Promise<readonly LookupAddress[]> => lookup(host, { all: true });

export function createNames(ask: Names['addresses'] = askSystem): Names {
  const open = new Map<string, Promise<readonly LookupAddress[]>>();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (host: string) => {
    const asked = last.then(() => ask(host)).finally(() => open.delete(host));
    last = asked.catch(() => {}); // those who asked are told
    open.set(host, asked);
    return asked;
  };
  return {
    addresses: async (host) => {
      const family = isIP(host);
      if (family !== 0) return [{ address: host, family }];
      if (host.toLowerCase() === 'localhost') return LOCALHOST;
      return open.get(host) ?? inTurn(host);
    },
  };
}
