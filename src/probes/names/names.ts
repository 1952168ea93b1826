/**
 * From a host name to addresses, within a time of its own. `dns.lookup` would ask in the thread pool: a few name servers
 * that do not answer, and every file operation of the daemon waits behind them.
 */
import { promises } from 'node:dns';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { formatDuration } from '../../base/pure/format.ts';
import { FinalAnswer, fail, inconclusive } from '../inquiry.ts';

export interface Names {
  /** Never empty. Throws `Answered`: a name that does not exist is a failure, a name server that is silent is not. */
  addresses(host: string, limitMs: number, signal: AbortSignal): Promise<readonly string[]>;
}

export interface NamesOptions {
  /** Instead of those of resolv.conf: `127.0.0.1:5353`. */
  readonly servers?: readonly string[];
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
}

/** Both are the machine itself; many servers listen on one of them only. */
const LOCALHOST: readonly string[] = ['127.0.0.1', '::1'];

/** Hundreds of probes of one host need not ask each for themselves. */
const MAX_CACHE_MS = 5_000;
const MAX_CACHED = 500;
const TRIES = 2;

interface Cached {
  readonly addresses: readonly string[];
  readonly until: number;
}

export function createNames(options: NamesOptions = {}): Names {
  const { servers, hostsPath = '/etc/hosts', resolvConfPath = '/etc/resolv.conf' } = options;
  const hosts = cachedFile(hostsPath, parseHosts);
  const completion = cachedFile(resolvConfPath, parseCompletion);
  const cache = new Map<string, Cached>();

  return {
    async addresses(host, limitMs, signal) {
      if (isIP(host) !== 0) return [host];
      const name = host.toLowerCase();
      if (name === 'localhost') return LOCALHOST;
      const known = hosts().get(name.replace(/\.$/, ''));
      if (known) return known;
      const cached = cache.get(name);
      if (cached && cached.until > performance.now()) return cached.addresses;
      // One resolver for each lookup: calling one off calls off all that it is asked, and a changed resolv.conf is seen.
      const resolver = new promises.Resolver({ timeout: Math.ceil(limitMs / (TRIES + 1)), tries: TRIES });
      if (servers) resolver.setServers(servers);
      const { addresses, ttlMs } = await lookUp(resolver, candidates(name, completion()), { host, limitMs, signal });
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(name, { addresses, until: performance.now() + Math.min(ttlMs, MAX_CACHE_MS) });
      return addresses;
    },
  };
}

interface NameLookup {
  readonly host: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

async function lookUp(
  resolver: promises.Resolver,
  names: readonly string[],
  { host, limitMs, signal }: NameLookup,
): Promise<ResolvedName> {
  let isOver = false;
  let trouble: string | null = null;
  const end = (): void => {
    isOver = true;
    resolver.cancel();
  };
  const timer = setTimeout(end, limitMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    for (const name of names) {
      const found = await query(resolver, name);
      if (found.addresses.length > 0) return found;
      trouble ??= found.trouble;
      if (isOver) throw new FinalAnswer(inconclusive(silent(host, limitMs)));
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolver.cancel(); // the kind of addresses that was not waited for
  }
  if (trouble === 'ETIMEOUT') throw new FinalAnswer(inconclusive(silent(host, limitMs)));
  if (trouble !== null) throw new FinalAnswer(inconclusive(`the name ${host} could not be looked up (${trouble})`));
  throw new FinalAnswer(fail(`no such host: ${host}`));
}

const silent = (host: string, limitMs: number): string =>
  `the name ${host} could not be looked up: no answer from the name server within ${formatDuration(limitMs)}`;

// A small file that is read again only when it has changed.

const MAX_BYTES = 256 * 1024;

/** What cannot be read counts as empty. Only the first 256 KiB are looked at. */
export function cachedFile<T>(path: string, parse: (text: string) => T): () => T {
  let version = '';
  let parsed = parse('');
  return () => {
    const current = versionOf(path);
    if (current === version) return parsed;
    parsed = parse(readStart(path));
    version = current;
    return parsed;
  };
}

function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs}` : '';
}

function readStart(path: string): string {
  try {
    const fd = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(MAX_BYTES);
      return buffer.toString('utf8', 0, readSync(fd, buffer));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

// One name asked for at the name server, both kinds of addresses side by side. Never through the thread pool.

export interface ResolvedName {
  readonly addresses: readonly string[];
  readonly ttlMs: number;
  /** Why nothing is known; null: the server did answer. */
  readonly trouble: string | null;
}

/** What the server says when there is no such name, or no address of this kind. */
const NONE: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** RFC 8305: how long the other kind of addresses is waited for once there are some. */
const OTHER_KIND_MS = 50;

export async function query(resolver: promises.Resolver, name: string): Promise<ResolvedName> {
  const v4 = settle(resolver.resolve4(name, { ttl: true }));
  const v6 = settle(resolver.resolve6(name, { ttl: true }));
  const first = await v4;
  const second = first.addresses.length === 0 ? await v6 : await soon(v6);
  return {
    addresses: [...first.addresses, ...second.addresses],
    ttlMs: Math.min(first.ttlMs, second.ttlMs),
    trouble: first.trouble ?? second.trouble,
  };
}

const NOTHING: ResolvedName = { addresses: [], ttlMs: Number.POSITIVE_INFINITY, trouble: null };

async function soon(found: Promise<ResolvedName>): Promise<ResolvedName> {
  const end = new AbortController();
  try {
    return await Promise.race([found, pause(OTHER_KIND_MS, NOTHING, { signal: end.signal })]);
  } finally {
    end.abort();
  }
}

type Record = { readonly address: string; readonly ttl: number };

async function settle(asked: Promise<readonly Record[]>): Promise<ResolvedName> {
  try {
    const records = await asked;
    const ttls = records.map(({ ttl }) => ttl * 1000);
    return { addresses: records.map(({ address }) => address), ttlMs: Math.min(...ttls), trouble: null };
  } catch (error) {
    const { code = 'EUNKNOWN' } = error as NodeJS.ErrnoException;
    return NONE.has(code) ? NOTHING : { ...NOTHING, trouble: code };
  }
}

// What the machine itself says about names: /etc/hosts, and how resolv.conf wants short names to be completed.

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
