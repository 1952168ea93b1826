/** Who may do what, and which requests a listener on the network lets in at all. */
import { AppError } from '../../base/pure/errors.ts';
import type { DashboardSpec } from '../spec.ts';

/** What a route needs, and what a caller has: each includes those before it. `socket`: only over the unix socket. */
export const ACCESS = ['metrics', 'read', 'control', 'socket'] as const;
export type Access = (typeof ACCESS)[number];

/** What a token can stand for. */
export const TOKEN_ROLES = ['control', 'read', 'metrics'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

/** Throws the error that says what is missing. `has` null: it came without a token. */
export function demand(needs: Access, has: Access | null): void {
  if (has === 'socket') return;
  if (needs === 'socket') throw new AppError('ONLY_BY_SOCKET', { what: 'This request' });
  if (has === null) throw new AppError('TOKEN_NEEDED');
  if (ACCESS.indexOf(has) < ACCESS.indexOf(needs)) throw new AppError('ROLE_TOO_LOW', { needs, has });
}

/** What of a request says where it comes from. Every value of each header: a second one may be smuggled in. */
export interface Provenance {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly sites: readonly string[];
  /** The address of this machine that was connected to. */
  readonly localAddress: string;
  readonly localPort: number;
}

type Listening = Pick<DashboardSpec, 'tls' | 'reverseProxy' | 'hosts'>;

const SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

const refuse = (problem: string, hint: string): never => {
  throw new AppError('REQUEST_REFUSED', { problem }, { hint });
};

const HOST_HINT =
  'Use the address that "keepwell dashboard" prints. Other names belong under "dashboard.hosts" or "dashboard.reverse_proxy".';
const PAGE_HINT = 'Only the page of this listener may ask; open it with "keepwell dashboard".';

/**
 * Throws REQUEST_REFUSED. A page of somebody else whose name suddenly leads to this machine (DNS rebinding) sends that name as its Host,
 * so only the address itself and stated names are let in. `isOpening`: a browser only opens the page, which says nothing without a token,
 * so a link to it may stand anywhere.
 */
export function admit(from: Provenance, listening: Listening, isOpening: boolean): void {
  const { hosts, origins, sites } = from;
  if (hosts.length !== 1) refuse(`it needs exactly one Host header, not ${hosts.length}.`, HOST_HINT);
  const known = knownOrigins(from, listening);
  const isKnown = known.some((origin) => hostOf(origin).includes(hosts[0]!.toLowerCase()));
  if (!isKnown) refuse('its Host header is not an address or name of this listener.', HOST_HINT);
  if (origins.length > 1 || (origins.length === 1 && !known.includes(origins[0]!)))
    refuse('it comes from another web page (its Origin is not this listener).', PAGE_HINT);
  if (!isOpening && sites.some((site) => !SITES.has(site))) refuse('it comes from another web site.', PAGE_HINT);
}

/** With its port, and also without it where that is the usual one. */
function hostOf(origin: string): readonly string[] {
  const [, scheme, authority] = /^(https?):\/\/(.*)$/.exec(origin)!;
  const usual = scheme === 'https' ? 443 : 80;
  return authority!.endsWith(`:${usual}`)
    ? [authority!, authority!.slice(0, authority!.lastIndexOf(':'))]
    : /:\d+$/.test(authority!)
      ? [authority!]
      : [authority!, `${authority}:${usual}`];
}

/** As browsers write it: without the usual port. */
const originOf = (isSecure: boolean, host: string, port: number): string =>
  `${isSecure ? 'https' : 'http'}://${host}${port === (isSecure ? 443 : 80) ? '' : `:${port}`}`;

/**
 * Without TLS, what is not loopback is only for the reverse proxy: who would come by the address of this machine would send its token
 * in the clear.
 */
function knownOrigins({ localAddress, localPort }: Provenance, { tls, reverseProxy, hosts }: Listening) {
  const isSecure = tls !== null;
  const address = plainAddress(localAddress);
  const local = isLoopback(address);
  if (!local && !isSecure) return reverseProxy;
  const own = [bracketed(address), ...(local ? ['localhost'] : []), ...hosts];
  return [...own.map((host) => originOf(isSecure, host, localPort)), ...reverseProxy];
}

/** An IPv4 address that came through an IPv6 socket is that IPv4 address. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();

export const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** `localhost` too: the kernel is asked nothing here, and names of loopback are not for other machines. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** Where a browser finds it. */
export const pageOrigin = (host: string, port: number, isSecure: boolean): string =>
  originOf(isSecure, bracketed(host), port);
