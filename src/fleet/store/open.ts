/** Everything about the memory that hosts share, in one part that is loaded when the configuration names a database, and never before. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isObject, parseJson } from '../../base/pure/json.ts';
import type { Store } from '../../history/ports.ts';
import { VERSION } from '../../version.ts';
import { parseStoreAddress } from '../rules/store-address.ts';
import type { HostIdentity } from './book.ts';
import { FleetStore, type FleetStoreParts } from './service.ts';

export interface OpenFleetStoreOptions extends Omit<FleetStoreParts, 'address' | 'host' | 'history'> {
  /** As the configuration has it. */
  readonly url: string;
  readonly project: string;
  /** The state directory. */
  readonly home: string;
  readonly history: FleetStoreParts['history'] & Pick<Store, 'meta' | 'setMeta'>;
}

export function openFleetStore({ url, project, home, ...parts }: OpenFleetStoreOptions): FleetStore {
  const address = parseStoreAddress(url);
  if ('problem' in address) throw new Error(`store.fleet ${address.problem}`); // the configuration was checked
  return new FleetStore({ ...parts, address, host: identity(parts.history, project, home) });
}

const KEY = 'fleet.host';

/** A history that was copied to another machine is another host: two that send under one name would lose each other's events. */
function identity(history: Pick<Store, 'meta' | 'setMeta'>, project: string, home: string): HostIdentity {
  const here = { machine: machineId(), host: hostname(), home };
  const about = { name: `${project}@${here.host}`, project, version: VERSION, machine: here.machine, home };
  const kept = parseJson(history.meta(KEY) ?? '');
  if (
    isObject(kept) &&
    typeof kept['id'] === 'string' &&
    (['machine', 'host', 'home'] as const).every((key) => kept[key] === here[key])
  )
    return { id: kept['id'], ...about };
  const id = randomUUID();
  history.setMeta(KEY, JSON.stringify({ id, ...here }));
  return { id, ...about };
}

function machineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    return '';
  }
}
