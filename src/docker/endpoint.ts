/** Where the Docker Engine listens. Looked up in the order of the Docker command line, then where Podman listens. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing, NotOursError, readRegularFile } from '../base/regular-file.ts';

/** The variables that decide: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, DOCKER_CONTEXT, DOCKER_CONFIG, HOME, XDG_RUNTIME_DIR, PATH. */
export type EngineEnv = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  readonly address: Address;
  /** Who named it, for people; null: it is one of the usual places. */
  readonly namedBy: string | null;
}

/** `why`: a sentence that says what is wrong with the address. */
export type FoundEndpoint = Endpoint | { readonly why: string };

/** Where things are on a machine that nobody arranged otherwise. */
export interface Places {
  readonly systemSocket: string;
  readonly podmanSocket: string;
  readonly programDirs: readonly string[];
}

export const USUAL_PLACES: Places = {
  systemSocket: '/var/run/docker.sock',
  podmanSocket: '/run/podman/podman.sock',
  // A user's PATH often lacks the directories of system programs.
  programDirs: ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin'],
};

export function findEndpoint(env: EngineEnv, places: Places): FoundEndpoint {
  const configDir = env['DOCKER_CONFIG'] || join(env['HOME'] || '/', '.docker');
  const host = env['DOCKER_HOST'];
  if (host) return named(host, 'DOCKER_HOST', () => credentialsOf(env, configDir));
  const context = currentContext(configDir, env['DOCKER_CONTEXT']);
  if (context) {
    const who = `the Docker context "${context.name}"`;
    if (context.host === null) return { why: `${who} is in use, but its files in ${configDir} name no address` };
    const { tlsDir, skipsVerification } = context;
    return named(context.host, who, () =>
      !isMissing(tlsDir) || skipsVerification ? readCredentials(tlsDir, !skipsVerification) : null,
    );
  }
  return { address: { kind: 'socket', path: usualSocket(env, places) }, namedBy: null };
}

function named(
  host: string,
  namedBy: string,
  credentials: () => Credentials | { readonly why: string } | null,
): FoundEndpoint {
  const address = readAddress(host, credentials);
  return 'why' in address ? { why: `${namedBy} is ${address.why}` } : { address, namedBy };
}

/** As with the command line, either of the two asks for an encrypted connection. Whom we talk to is always made sure of. */
function credentialsOf(env: EngineEnv, configDir: string): Credentials | { readonly why: string } | null {
  const certPath = env['DOCKER_CERT_PATH'];
  return certPath || env['DOCKER_TLS_VERIFY'] ? readCredentials(certPath || configDir, true) : null;
}

/** The first that is there; where none is, the one that people expect. */
function usualSocket(env: EngineEnv, { systemSocket, podmanSocket }: Places): string {
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  const own = (path: string) => (runtimeDir ? [join(runtimeDir, path)] : []);
  const sockets = [...own('docker.sock'), systemSocket, ...own('podman/podman.sock'), podmanSocket];
  return sockets.find((path) => existsSync(path)) ?? systemSocket;
}

/** Whether a Docker Engine is installed at all: the difference between "start it" and "install it". */
export function isInstalled(env: EngineEnv, { programDirs }: Places): boolean {
  const path = (env['PATH'] ?? '').split(':').filter((dir) => dir !== '');
  return [...path, ...programDirs].some((dir) => existsSync(join(dir, 'dockerd')));
}

// Where the Docker command line would look: the context that is in use, from the files it keeps in ~/.docker.

export interface DockerContext {
  readonly name: string;
  /** Its endpoint, for instance unix:///run/user/1000/docker.sock; null: its files do not say. */
  readonly host: string | null;
  /** Where its files for encrypted connections are, if there are any. */
  readonly tlsDir: string;
  readonly skipsVerification: boolean;
}

/** The context that Docker itself builds in; it has no files. */
const BUILT_IN = 'default';

/** The context named by `chosen` (DOCKER_CONTEXT), else the current one; null: the built-in one. */
export function currentContext(configDir: string, chosen: string | undefined): DockerContext | null {
  const name = chosen || textAt(readJson(join(configDir, 'config.json')), 'currentContext');
  if (!name || name === BUILT_IN) return null;
  const folder = createHash('sha256').update(name).digest('hex');
  const meta = readJson(join(configDir, 'contexts/meta', folder, 'meta.json'));
  return {
    name,
    host: textAt(meta, 'Endpoints', 'docker', 'Host'),
    tlsDir: join(configDir, 'contexts/tls', folder, 'docker'),
    skipsVerification: valueAt(meta, 'Endpoints', 'docker', 'SkipTLSVerify') === true,
  };
}

function textAt(value: unknown, ...keys: readonly string[]): string | null {
  const found = valueAt(value, ...keys);
  return typeof found === 'string' ? found : null;
}

function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null) return null;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readRegularFile(path, { follow: true }));
  } catch {
    return null; // not there, or not for us: then it names no context
  }
}

// What an encrypted connection to the Engine needs: ca.pem, cert.pem and key.pem of one directory, as Docker keeps them.

export interface Credentials {
  /** Who vouches for the Engine; absent: whom the system trusts. */
  readonly ca?: string;
  /** Who we are; absent: nobody asks. */
  readonly cert?: string;
  readonly key?: string;
  /** False: whoever answers is believed. Only where a Docker context says so. */
  readonly verify: boolean;
}

/** Files that are not there are not needed. `why`: one is there and cannot be read, or is there without its other half. */
export function readCredentials(dir: string, verify: boolean): Credentials | { readonly why: string } {
  try {
    const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => read(join(dir, name)));
    if ((cert === undefined) !== (key === undefined))
      return { why: `of cert.pem and key.pem in ${dir}, only one is there` };
    return { verify, ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) };
  } catch (error) {
    return { why: (error as Error).message };
  }
}

function read(path: string): string | undefined {
  try {
    return readRegularFile(path, { follow: true });
  } catch (error) {
    if (error instanceof NotOursError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read (${code})`);
  }
}

// An address of the Engine as people write it: unix:///path/docker.sock or tcp://host:port.

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
