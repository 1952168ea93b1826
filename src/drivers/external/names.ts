/**
 * From a host name to addresses. The system's resolver cannot be called off and holds one of the few threads that also serve
 * files, so all who ask share one: name servers that do not answer cost one thread, and nobody a second question.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

export interface Names {
  /** Takes as long as the system's resolver takes. Rejects with its error. */
  addresses(host: string): Promise<readonly LookupAddress[]>;
}

/** Both are the machine itself; many servers listen on one of them only. */
const LOCALHOST: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const askSystem = (host: string): Promise<readonly LookupAddress[]> => lookup(host, { all: true });

export function createNames(ask: Names['addresses'] = askSystem): Names {
  const open = new Map<string, Promise<readonly LookupAddress[]>>();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (host: string) => {
    const asked = last.then(() => ask(host)).finally(() => open.delete(host));
    last = asked.catch(() => {}); // those who asked are told
    open.set(host, asked);
    return asked;
  };
  return {
    addresses: async (host) => {
      const family = isIP(host);
      if (family !== 0) return [{ address: host, family }];
      if (host.toLowerCase() === 'localhost') return LOCALHOST;
      return open.get(host) ?? inTurn(host);
    },
  };
}
