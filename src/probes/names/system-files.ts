/** What the machine itself says about names: /etc/hosts, and how resolv.conf wants short names to be completed. */
import { isIP } from 'node:net';

/** Lower-case names and their addresses, in the order of the file. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return hosts;
}

export interface Completion {
  readonly search: readonly string[];
  /** A name with at least this many dots is tried as it is first. */
  readonly ndots: number;
}

const MAX_SEARCH = 6;
const MAX_NDOTS = 15;

/** As in resolv.conf(5): the last `search` or `domain` wins. c-ares does not complete names that are asked for by type. */
export function parseCompletion(text: string): Completion {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search') search = words.slice(0, MAX_SEARCH);
    if (keyword === 'domain') search = words.slice(0, 1);
    const [, dots] = keyword === 'options' ? (/\bndots:(\d+)/.exec(words.join(' ')) ?? []) : [];
    if (dots !== undefined) ndots = Math.min(Number(dots), MAX_NDOTS);
  }
  return { search, ndots };
}

/** The full names to ask for, in order. */
export function candidates(name: string, { search, ndots }: Completion): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const completed = search.filter((domain) => domain !== '.').map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...completed] : [...completed, name];
}
