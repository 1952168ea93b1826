/** What can be said about TLS in every question that is put by gRPC. */

import { isUnusable, type Say } from '../../config/draft.ts';
import { boolean, host, optional } from '../../config/leaves.ts';
import type { Path } from '../../config/tree.ts';
import { type Ours, row } from '../../config/words/argv.ts';
import type { RpcServer } from '../../supervision/rules/health/probe.ts';

const DEFAULT = { tls: false, insecure: false };

export const tlsKeys = {
  tls: optional(boolean, { description: 'Ask with TLS.', defaultsTo: DEFAULT.tls, example: true }),
  insecure: optional(boolean, {
    description: 'Accept a certificate that cannot be verified. Only with `tls: true`.',
    defaultsTo: DEFAULT.insecure,
    example: true,
  }),
  server_name: optional(host, {
    description: 'Whose certificate is expected. Only with `tls: true`.',
    defaultNote: 'the host',
    example: 'api.internal',
  }),
};

interface TlsConfig {
  readonly tls?: boolean | undefined;
  readonly insecure?: boolean | undefined;
  readonly server_name?: string | undefined;
}

export const tlsOf = (config: TlsConfig): Pick<RpcServer, 'tls' | 'insecure' | 'serverName'> => ({
  tls: config.tls ?? DEFAULT.tls,
  insecure: config.insecure ?? DEFAULT.insecure,
  serverName: config.server_name ?? null,
});

export function checkTls(config: TlsConfig, _: unknown, path: Path, say: Say): void {
  const { tls, insecure, server_name } = config;
  if (tls === true || isUnusable(config, 'tls')) return;
  const hint = 'Write "tls: true", or remove it.';
  if (insecure === true) say([...path, 'insecure'], 'there is no certificate without tls', hint);
  if (server_name !== undefined) say([...path, 'server_name'], 'there is no certificate without tls', hint);
}

/** What grpc_health_probe, grpcurl and the clients of Temporal call things. */
export function tlsWords(question: 'grpc' | 'temporal'): Readonly<Record<string, Ours>> {
  const tls = row(`readiness.${question}.tls`, 'true');
  const insecure = row(`readiness.${question}.insecure`, 'true');
  const name = row(`readiness.${question}.server_name`, '*', 'api.internal');
  const timeout = row('readiness.timeout', '*s', '1');
  return {
    ...{ ssl: tls, secure: tls, scheme: tls, tlsnoverify: insecure, insecureskipverify: insecure },
    ...{ skipverify: insecure, tlsskipverify: insecure, tlsdisablehostverification: insecure },
    ...{ tlsservername: name, servername: name, authority: name, sni: name },
    ...{ connecttimeout: timeout, rpctimeout: timeout, timeout, maxtime: timeout },
  };
}
