/** Where the Docker command line would look: the context that is in use, from the files it keeps in ~/.docker. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readRegularFile } from '../base/regular-file.ts';

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
