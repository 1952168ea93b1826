/** TLS over a connection that is there already. */
import { isIP, type Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { hangUp } from '../../base/hang-up.ts';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { FinalAnswer, fail } from '../answers.ts';
import type { Deadline } from '../deadline.ts';
import { socketFailure } from './connect.ts';

export interface Secured {
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
