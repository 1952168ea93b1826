/** Where the Docker Engine listens. Looked up in the order of the Docker command line; only unix sockets are spoken to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { currentContext } from './docker-context.ts';

/** The variables that decide: DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, HOME, XDG_RUNTIME_DIR, PATH. */
export type EngineEnv = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  readonly socketPath: string;
  /** Who named it, for people; null: it is one of the usual places. */
  readonly namedBy: string | null;
}

/** `why`: a sentence that says what is wrong with the address. */
export type Found = Endpoint | { readonly why: string };

/** Where things are on a machine that nobody arranged otherwise. */
export interface Places {
  readonly systemSocket: string;
  readonly programDirs: readonly string[];
}

export const USUAL_PLACES: Places = {
  systemSocket: '/var/run/docker.sock',
  // A user's PATH often lacks the directories of system programs.
  programDirs: ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin'],
};

const UNIX = 'unix://';

export function findEndpoint(env: EngineEnv, { systemSocket }: Places): Found {
  const host = env['DOCKER_HOST'];
  if (host) return named(host, 'DOCKER_HOST');
  const configDir = env['DOCKER_CONFIG'] || join(env['HOME'] || '/', '.docker');
  const context = currentContext(configDir, env['DOCKER_CONTEXT']);
  if (context) {
    const who = `the Docker context "${context.name}"`;
    if (context.host === null) return { why: `${who} is in use, but its files in ${configDir} name no address` };
    return named(context.host, who);
  }
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  const rootless = runtimeDir ? join(runtimeDir, 'docker.sock') : null;
  return { socketPath: rootless !== null && existsSync(rootless) ? rootless : systemSocket, namedBy: null };
}

function named(host: string, namedBy: string): Found {
  const socketPath = host.startsWith(UNIX) ? host.slice(UNIX.length) : '';
  if (socketPath.startsWith('/')) return { socketPath, namedBy };
  return {
    why: `${namedBy} is ${JSON.stringify(withoutPassword(host))}; only unix sockets are supported, written as unix:///path/docker.sock`,
  };
}

/** ssh://user:secret@host would otherwise end up in a log. */
const withoutPassword = (host: string): string => host.replace(/\/\/[^/@]*@/, '//…@');

/** Whether a Docker Engine is installed at all: the difference between "start it" and "install it". */
export function isInstalled(env: EngineEnv, { programDirs }: Places): boolean {
  const path = (env['PATH'] ?? '').split(':').filter((dir) => dir !== '');
  return [...path, ...programDirs].some((dir) => existsSync(join(dir, 'dockerd')));
}
