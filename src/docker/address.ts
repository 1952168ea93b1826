/** An address of the Engine as people write it: unix:///path/docker.sock or tcp://host:port. */
import type { Credentials } from './tls.ts';

export type Address =
  | { readonly kind: 'socket'; readonly path: string }
  /** `tls` null: in the clear, as whoever wrote the address wants it. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: Credentials | null };

const UNIX = 'unix://';
const TCP = 'tcp://';
const SSH = 'ssh://';
const PLAIN_PORT = 2375;
const TLS_PORT = 2376;

/** `credentials` is only asked for an address that could use them. `why` goes on after "DOCKER_HOST is". */
export function readAddress(
  text: string,
  credentials: () => Credentials | { readonly why: string } | null,
): Address | { readonly why: string } {
  const path = text.startsWith(UNIX) ? text.slice(UNIX.length) : '';
  if (path.startsWith('/')) return { kind: 'socket', path };
  const shown = JSON.stringify(withoutPassword(text));
  if (text.startsWith(SSH))
    return {
      why: `${shown}, and ssh is not spoken here: let ssh bring its socket over, for instance with "ssh -NL /tmp/docker.sock:/var/run/docker.sock HOST", and set DOCKER_HOST=unix:///tmp/docker.sock`,
    };
  const place = text.startsWith(TCP) ? parseUrl(text) : null;
  if (place === null || place.hostname === '')
    return {
      why: `${shown}; what is supported is a unix socket, written as unix:///path/docker.sock, and tcp://host:port`,
    };
  const tls = credentials();
  if (tls !== null && 'why' in tls) return { why: `${shown}, but ${tls.why}` };
  const port = place.port === '' ? (tls === null ? PLAIN_PORT : TLS_PORT) : Number(place.port);
  return { kind: 'tcp', host: place.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls };
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** ssh://user:secret@host would otherwise end up in a log. */
const withoutPassword = (host: string): string => host.replace(/\/\/[^/@]*@/, '//…@');

/** For people. */
export function addressText(address: Address): string {
  if (address.kind === 'socket') return address.path;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${TCP}${host}:${address.port}`;
}
