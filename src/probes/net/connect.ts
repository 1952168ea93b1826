/** A fresh connection to a host, whichever of its addresses answers, and TLS over it where that is asked for. */

import { isIP, connect as open, type Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { hangUp } from '../../base/hang-up.ts';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { type Deadline, FinalAnswer, fail, inconclusive } from '../inquiry.ts';
import type { Names } from '../names/names.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A lookup may take half of the time at most, so that there is some left for the question itself. */
const NAME_SHARE = 0.5;
const MAX_NAME_MS = 5_000;
/** A host with more addresses has a balancer, and a probe is not meant to find the one that works. */
const MAX_ADDRESSES = 4;

/** Throws `Answered` when it cannot be had. */
export async function connect({ host, port }: Address, names: Names, deadline: Deadline): Promise<Socket> {
  deadline.missing = 'no connection';
  const limitMs = Math.min(deadline.timeoutMs * NAME_SHARE, MAX_NAME_MS);
  const addresses = (await names.addresses(host, limitMs, deadline.signal)).slice(0, MAX_ADDRESSES);
  const failures: Answer[] = [];
  for (const [index, address] of addresses.entries()) {
    const left = addresses.length - index;
    const attempt = await connectTo({ host: address, port }, deadline, left === 1 ? null : deadline.leftMs / left);
    if (!('outcome' in attempt)) return attempt;
    failures.push(attempt);
  }
  // An address that this machine cannot even try (IPv6 is off) does not excuse the one that refused.
  throw new FinalAnswer(failures.find(({ outcome }) => outcome === 'fail') ?? failures[0] ?? fail('no address'));
}

/** `limitMs`: when the next address gets its turn; null for the last one. Throws when the whole time is up. */
async function connectTo(address: Address, deadline: Deadline, limitMs: number | null): Promise<Socket | Answer> {
  // Half open: the end is ours to make, also when the other side has made its own.
  const socket = open({ ...address, autoSelectFamily: false, allowHalfOpen: true });
  socket.on('error', () => {}); // for good: an error may come at any later time, too
  try {
    await deadline.wait<void>((resolve, reject) => {
      const timer = limitMs === null ? undefined : setTimeout(() => reject(NOT_IN_TIME), limitMs);
      socket.once('connect', resolve).once('error', reject);
      return () => {
        clearTimeout(timer);
        socket.off('connect', resolve).off('error', reject);
      };
    });
    if (isItself(socket)) throw Object.assign(new Error('connected to itself'), { code: 'ECONNREFUSED' });
    return socket;
  } catch (error) {
    await hangUp(socket);
    if (deadline.signal.aborted) throw error;
    if (isShortage(error)) throw new FinalAnswer(socketFailure(error)); // the next address would not be asked either
    return socketFailure(error);
  }
}

const NOT_IN_TIME = Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' });

/** Where nobody listens, TCP connects a socket to itself when both ends happen to get the same port. */
export const isItself = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): boolean =>
  localPort === remotePort && localAddress === remoteAddress;

// What an error of a socket says: something about the other side, or only that we could not ask.

/** Our own machine is short of something. It says nothing about who should have been asked. */
const SHORTAGE: Readonly<Record<string, string>> = {
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  ENOMEM: 'there is not enough memory',
  ENOBUFS: 'there is no room for another socket',
  EAGAIN: 'there is no room for another connection',
};

/** This one address cannot be reached from here, whoever is there. */
const NOT_FROM_HERE: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'no local address or port is left',
  EACCES: 'this machine does not allow the connection',
  EPERM: 'this machine does not allow the connection',
};

const THEIR_FAULT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  EHOSTDOWN: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no connection (ETIMEDOUT)',
};

const isShortage = (error: unknown): boolean => String((error as NodeJS.ErrnoException).code) in SHORTAGE;

export function socketFailure(error: unknown): Answer {
  if (error instanceof FinalAnswer) return error.answer;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const ours = SHORTAGE[code] ?? NOT_FROM_HERE[code];
  if (ours) return inconclusive(`${ours} (${code})`);
  return fail(THEIR_FAULT[code] ?? (code === '' ? message : `${message} (${code})`));
}

// TLS over a connection that is there already.

interface Secured {
  /** Whose certificate is expected. */
  readonly name: string;
  /** Accept a certificate that cannot be verified. */
  readonly insecure: boolean;
  /** What will be spoken, which the server must agree to where it cares. */
  readonly protocol: 'http/1.1' | 'h2';
}

/** Shared: it holds the certificates of all authorities. */
let context: SecureContext | null = null;

/** Takes over `socket`: they end together. Throws `Answered` when there is no handshake. */
export async function secure(
  socket: Socket,
  { name, insecure, protocol }: Secured,
  deadline: Deadline,
): Promise<TLSSocket> {
  deadline.missing = 'no TLS handshake';
  // Loaded by the first who needs it: whoever reads a configuration has this file as well.
  const { connect, createSecureContext } = await import('node:tls');
  context ??= createSecureContext();
  const secured = connect({
    socket,
    host: name,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: false, // judged below: Node would break the connection off in the middle
    secureContext: context,
    ALPNProtocols: [protocol],
  });
  secured.on('error', () => {}); // for good: an error may come at any later time, too
  try {
    await handshake(secured, deadline);
    if (!insecure && !secured.authorized)
      throw new FinalAnswer(tlsFailure({ code: String(secured.authorizationError) }));
    return secured;
  } catch (error) {
    void hangUp(secured);
    throw error;
  }
}

const handshake = (socket: TLSSocket, deadline: Deadline): Promise<void> =>
  deadline.wait((resolve, reject) => {
    const failed = (error: unknown): void => reject(new FinalAnswer(tlsFailure(error)));
    const closed = (): void => reject(new FinalAnswer(fail('the connection was closed during the TLS handshake')));
    socket.once('secureConnect', resolve).once('error', failed).once('close', closed);
    return () => socket.off('secureConnect', resolve).off('error', failed).off('close', closed);
  });

const CERTIFICATE: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its authority is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its authority is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its authority is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its authority is not known here',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  CERT_REVOKED: 'it was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
};

export function tlsFailure(error: unknown): Answer {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const certificate = CERTIFICATE[code] ?? (/CERT|CRL|UNABLE_TO/.test(code) && !/^ERR_SSL/.test(code) ? code : null);
  if (certificate !== null) return fail(`bad certificate: ${certificate}`);
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return fail('not a TLS answer');
  if (code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
    return fail('the server does not speak the protocol asked for');
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) return fail(`no TLS handshake (${code})`);
  if (code === 'ECONNRESET' && message.includes('before secure TLS connection')) {
    return fail('the connection was closed during the TLS handshake');
  }
  return socketFailure(error);
}
