/**
 * From a host name to addresses, within a time of its own. `dns.lookup` would ask in the thread pool: a few name servers
 * that do not answer, and every file operation of the daemon waits behind them.
 */
import { promises } from 'node:dns';
import { isIP } from 'node:net';
import { formatDuration } from '../../base/pure/format.ts';
import { Answered, fail, inconclusive } from '../answers.ts';
import { cachedFile } from './cached-file.ts';
import { type Found, query } from './query.ts';
import { candidates, parseCompletion, parseHosts } from './system-files.ts';

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

interface LookUp {
  readonly host: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

async function lookUp(
  resolver: promises.Resolver,
  names: readonly string[],
  { host, limitMs, signal }: LookUp,
): Promise<Found> {
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
      if (isOver) throw new Answered(inconclusive(silent(host, limitMs)));
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolver.cancel(); // the kind of addresses that was not waited for
  }
  if (trouble === 'ETIMEOUT') throw new Answered(inconclusive(silent(host, limitMs)));
  if (trouble !== null) throw new Answered(inconclusive(`the name ${host} could not be looked up (${trouble})`));
  throw new Answered(fail(`no such host: ${host}`));
}

const silent = (host: string, limitMs: number): string =>
  `the name ${host} could not be looked up: no answer from the name server within ${formatDuration(limitMs)}`;
