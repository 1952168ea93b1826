/** The page over the network, complete: every default filled in, and nothing that others could reach by mistake. */

import { z } from 'zod';
import { isLoopback } from '../dashboard/rules/access.ts';
import { type DashboardSpec, METRICS_ACCESS } from '../dashboard/spec.ts';
import { DEFAULTS } from './defaults.ts';
import type { Draft, Say } from './draft.ts';
import { addressJson, boolean, host, leaf, oneOf, optional, orVariable, path } from './leaves.ts';
import { readOrigin, readTcp } from './readers/network.ts';

const { listen, metrics } = DEFAULTS.dashboard;

const origin = leaf(readOrigin, 'origin', orVariable({ pattern: '^https?://[^/]+/?$' }));

export const dashboardSchema = z.strictObject({
  listen: optional(leaf(readTcp, 'port or `host:port`', addressJson), {
    description: 'Where the page and the API are served. A port alone is one of 127.0.0.1.',
    defaultsTo: `${listen.host}:${listen.port}`,
    example: '127.0.0.1:7070',
  }),
  allow_remote: optional(boolean, {
    description: 'Also on an address that other machines can reach. Needs `tls` or `reverse_proxy` as well.',
    defaultsTo: false,
    example: true,
  }),
  tls: optional(
    z.strictObject({
      cert: path.meta({
        description: 'The certificate with its chain, as PEM, relative to the folder of the first configuration file.',
        example: '/etc/keepwell/cert.pem',
      }),
      key: path.meta({ description: 'Its private key, as PEM.', example: '/etc/keepwell/key.pem' }),
    }),
    {
      description: 'Serve it by HTTPS. A renewed certificate is noticed within seconds.',
      defaultNote: 'plain HTTP',
      example: { cert: '/etc/keepwell/cert.pem', key: '/etc/keepwell/key.pem' },
    },
  ),
  reverse_proxy: optional(z.union([z.array(origin), origin]), {
    description:
      'The origin under which a reverse proxy shows it, or a list of them. The proxy must pass on the Host header.',
    defaultNote: 'none',
    example: 'https://ops.example.com',
  }),
  hosts: optional(z.array(host), {
    description: 'Further names under which this machine is reached. Requests by any other name are refused.',
    defaultsTo: [],
    example: ['box.lan'],
  }),
  metrics: optional(oneOf(METRICS_ACCESS, { none: 'off', public: 'open' }), {
    description:
      'Who may read `/metrics` there: `token` whoever sends a token (there is one for this alone), `open` everybody, `off` nobody. `telemetry.prometheus` must be on.',
    defaultsTo: metrics,
    example: 'open',
  }),
});

export type DashboardConfig = z.output<typeof dashboardSchema>;

export function dashboardSpec(
  config: DashboardConfig | undefined,
  absolute: (path: string) => string,
): DashboardSpec | null {
  if (config === undefined) return null;
  const { tls, reverse_proxy: proxy = [], hosts = [] } = config;
  return {
    ...(config.listen ?? listen),
    allowRemote: config.allow_remote ?? false,
    tls: tls === undefined ? null : { cert: absolute(tls.cert), key: absolute(tls.key) },
    reverseProxy: typeof proxy === 'string' ? [proxy] : proxy,
    hosts: hosts.map((each) => each.toLowerCase()),
    metrics: config.metrics ?? metrics,
  };
}

/** Who opens it to other machines has to say so, and how what is sent is kept secret. */
export function checkDashboard(config: Draft<DashboardConfig> | undefined, say: Say): void {
  const { host: where } = config?.listen ?? listen;
  if (where === undefined || isLoopback(where)) return;
  const ways = '"tls: { cert: …, key: … }", or "reverse_proxy: https://…"';
  if (config?.allow_remote !== true)
    say(
      ['dashboard', 'listen'],
      'can be reached by other machines',
      `Write 127.0.0.1; or add "allow_remote: true" and ${ways}.`,
    );
  else if (config.tls === undefined && config.reverse_proxy === undefined)
    say(['dashboard', 'allow_remote'], 'without TLS, tokens would be sent in the clear', `Add ${ways}.`);
}
