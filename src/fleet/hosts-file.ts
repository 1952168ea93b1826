/** The hosts that a user has given names to: hosts.yaml in the user's configuration directory. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import { readDocument } from '../config/document.ts';
import { ConfigError, Problems } from '../config/problem.ts';
import type { MapNode } from '../config/tree.ts';
import { HOST_NAME, type Host, isAddress, parseHost } from './rules/host.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A host, and what the user calls it. */
export interface NamedHost extends Host {
  readonly name: string;
}

export const hostsFile = (env: Env): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'keepwell', 'hosts.yaml');

/** In the order of the file, at least one. Throws NO_HOSTS and CONFIG_INVALID. */
export function readHosts(env: Env): readonly NamedHost[] {
  const file = hostsFile(env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new AppError('NO_HOSTS', { file, problem: `there is no file ${file}` });
    throw new AppError('FILE_NOT_READ', { file, problem: message }, { cause: error });
  }
  return hostsFromText(file, text);
}

/** Throws as above. */
export function hostsFromText(file: string, text: string): readonly NamedHost[] {
  const problems = new Problems();
  const document = readDocument(file, text, problems);
  const hosts = document === null ? [] : hostsIn(document, problems);
  if (problems.count > 0)
    throw new ConfigError(problems.sorted([file]), null, { what: 'list of hosts', check: 'keepwell status --fleet' });
  if (hosts.length === 0) throw new AppError('NO_HOSTS', { file, problem: `${file} lists none` });
  return hosts;
}

const FORM = 'Write, for example:\nhosts:\n  web: ssh://deploy@web.example.com/srv/shop';

function hostsIn(document: MapNode, problems: Problems): NamedHost[] {
  for (const [key, { keyAt }] of document.entries)
    if (key !== 'hosts') problems.add(keyAt, [key], `there is no "${key}" in a list of hosts`, FORM);
  const hosts = document.entries.get('hosts')?.value;
  if (hosts === undefined) return [];
  if (hosts.kind !== 'map') {
    problems.add(hosts.at, ['hosts'], 'hosts is a map of names and addresses', FORM);
    return [];
  }
  return [...hosts.entries].flatMap(([name, { keyAt, value }]): NamedHost[] => {
    const path = ['hosts', name];
    if (!HOST_NAME.test(name)) {
      problems.add(keyAt, path, 'this is no name for a host', 'Use letters, digits, dot, dash and underscore.');
      return [];
    }
    const host = value.kind === 'scalar' ? parseHost(String(value.value)) : { problem: 'it is not a text' };
    if (!('problem' in host)) return [{ name, ...host }];
    problems.add(value.at, path, `this is not the address of a host: ${host.problem}`, FORM);
    return [];
  });
}

/** The host that is meant by "ssh://…" or by a name of the user file. */
export function hostFor(text: string, env: Env): NamedHost {
  const file = hostsFile(env);
  if (!isAddress(text)) {
    if (!HOST_NAME.test(text))
      throw new AppError('HOST_INVALID', {
        host: text.slice(0, 100),
        problem: 'it is neither an address nor a name',
        file,
      });
    const hosts = readHosts(env);
    const found = hosts.find(({ name }) => name === text);
    if (found !== undefined) return found;
    const names = hosts.map(({ name }) => name);
    throw new AppError('NO_SUCH_HOST', { host: text, file, suggestion: didYouMean(text, names) });
  }
  const host = parseHost(text);
  if ('problem' in host) throw new AppError('HOST_INVALID', { host: text.slice(0, 100), problem: host.problem, file });
  return { name: host.user === null ? host.host : `${host.user}@${host.host}`, ...host };
}
