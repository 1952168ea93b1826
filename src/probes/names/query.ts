/** One name asked for at the name server, both kinds of addresses side by side. Never through the thread pool. */
import type { promises } from 'node:dns';
import { setTimeout as pause } from 'node:timers/promises';

export interface Found {
  readonly addresses: readonly string[];
  readonly ttlMs: number;
  /** Why nothing is known; null: the server did answer. */
  readonly trouble: string | null;
}

/** What the server says when there is no such name, or no address of this kind. */
const NONE: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** RFC 8305: how long the other kind of addresses is waited for once there are some. */
const OTHER_KIND_MS = 50;

export async function query(resolver: promises.Resolver, name: string): Promise<Found> {
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

const NOTHING: Found = { addresses: [], ttlMs: Number.POSITIVE_INFINITY, trouble: null };

async function soon(found: Promise<Found>): Promise<Found> {
  const end = new AbortController();
  try {
    return await Promise.race([found, pause(OTHER_KIND_MS, NOTHING, { signal: end.signal })]);
  } finally {
    end.abort();
  }
}

type Record = { readonly address: string; readonly ttl: number };

async function settle(asked: Promise<readonly Record[]>): Promise<Found> {
  try {
    const records = await asked;
    const ttls = records.map(({ ttl }) => ttl * 1000);
    return { addresses: records.map(({ address }) => address), ttlMs: Math.min(...ttls), trouble: null };
  } catch (error) {
    const { code = 'EUNKNOWN' } = error as NodeJS.ErrnoException;
    return NONE.has(code) ? NOTHING : { ...NOTHING, trouble: code };
  }
}
