/** Where the Docker Engine listens. Looked up in the order of the Docker command line, then where Podman listens. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, readAddress } from './address.ts';
import { currentContext } from './docker-context.ts';
import { type Credentials, readCredentials } from './tls.ts';

/** The variables that decide: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, DOCKER_CONTEXT, DOCKER_CONFIG, HOME, XDG_RUNTIME_DIR, PATH. */
export type EngineEnv = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  readonly address: Address;
  /** Who named it, for people; null: it is one of the usual places. */
  readonly namedBy: string | null;
}

/** `why`: a sentence that says what is wrong with the address. */
export type Found = Endpoint | { readonly why: string };

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

export function findEndpoint(env: EngineEnv, places: Places): Found {
  const configDir = env['DOCKER_CONFIG'] || join(env['HOME'] || '/', '.docker');
  const host = env['DOCKER_HOST'];
  if (host) return named(host, 'DOCKER_HOST', () => credentialsOf(env, configDir));
  const context = currentContext(configDir, env['DOCKER_CONTEXT']);
  if (context) {
    const who = `the Docker context "${context.name}"`;
    if (context.host === null) return { why: `${who} is in use, but its files in ${configDir} name no address` };
    const { tlsDir, skipsVerification } = context;
    return named(context.host, who, () =>
      existsSync(tlsDir) || skipsVerification ? readCredentials(tlsDir, !skipsVerification) : null,
    );
  }
  return { address: { kind: 'socket', path: usualSocket(env, places) }, namedBy: null };
}

function named(host: string, namedBy: string, credentials: () => Credentials | { readonly why: string } | null): Found {
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
