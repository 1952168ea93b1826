/** Puts one gRPC question to a server: a fresh connection, with TLS if wanted, and nothing left of it afterwards. */

import type { Deadline } from '../deadline.ts';
import type { Names } from '../names/names.ts';
import { connect } from '../net/connect.ts';
import { secure } from '../net/tls.ts';
import { type Call, call, type Reply } from './call.ts';

export interface Server {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Accept a certificate that cannot be verified. */
  readonly insecure: boolean;
  /** Whose certificate is expected; null: that of the host. */
  readonly serverName: string | null;
}

export type Question = Pick<Call, 'path' | 'message' | 'maxBytes'>;

/** Throws `Answered` when there is no answer of a gRPC server. */
export async function askServer(server: Server, question: Question, names: Names, deadline: Deadline): Promise<Reply> {
  const { tls, insecure, serverName } = server;
  const plain = await connect(server, names, deadline);
  const name = serverName ?? server.host;
  const socket = tls ? await secure(plain, { name, insecure, protocol: 'h2' }, deadline) : plain;
  const authority = serverName ?? hostAndPort(server);
  return call({ ...question, scheme: tls ? 'https' : 'http', authority }, socket, deadline);
}

/** The zone of an address means nothing to the other side. */
export function hostAndPort({ host, port }: Pick<Server, 'host' | 'port'>): string {
  const bare = host.replace(/%.*$/, '');
  return bare.includes(':') ? `[${bare}]:${port}` : `${bare}:${port}`;
}
