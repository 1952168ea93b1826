/** The Lease of a project: of all daemons that could run it on a cluster, the one that holds it does; the others wait until it falls silent. */

import { shortHash } from '../../base/pure/hash.ts';
import type { Stored } from './api.ts';

/** A Lease as the server stores it. */
export interface StoredLease extends Stored {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** For so long a holder may be silent. */
export const LEASE_SECONDS = 15;

/** Also a name for everything else of the daemon; two projects never have the same. */
export function leaseName(project: string): string {
  const plain = project.replace(/[^a-z0-9-]+/g, '-').slice(0, MAX_CHARS);
  return `keepwell-${plain === project && !project.endsWith('-') ? project : `${plain}-${shortHash(project)}`}`;
}

/** With the rest of the name, it is still the value of a label. */
const MAX_CHARS = 32;

/** Null: nobody's. */
export const holderOf = (lease: StoredLease | null): string | null => lease?.spec?.holderIdentity || null;

/** `unchangedMs`: for how long we have seen the same version of it; the clocks of other machines are not trusted. */
export function mayTake(lease: StoredLease | null, me: string, unchangedMs: number): boolean {
  const holder = holderOf(lease);
  if (holder === null || holder === me) return true;
  return unchangedMs > (lease?.spec?.leaseDurationSeconds ?? LEASE_SECONDS) * 1_000;
}

/** Until when somebody else watched, epoch milliseconds; null: nobody did, or we did ourselves. */
export function watchedUntil(lease: StoredLease | null, me: string): number | null {
  const at = Date.parse(lease?.spec?.renewTime ?? '');
  return Number.isNaN(at) || lease?.metadata.annotations?.[LAST_HOLDER] === me ? null : at;
}

/** Who wrote it last: nobody holds it any more when it was given back. */
export const LAST_HOLDER = 'keepwell.last-holder';

/** What is written to take it, to go on holding it, or to give it back (`me` null). */
export function leaseWritten(
  lease: StoredLease | null,
  { me, wallNow }: { readonly me: string | null; readonly wallNow: number },
): NonNullable<StoredLease['spec']> {
  const now = `${new Date(wallNow).toISOString().slice(0, -1)}000Z`; // Kubernetes wants microseconds
  const spec = lease?.spec ?? {};
  const isNew = me !== null && holderOf(lease) !== me;
  const { leaseTransitions = 0 } = spec;
  return {
    ...spec,
    holderIdentity: me ?? '',
    leaseDurationSeconds: LEASE_SECONDS,
    renewTime: now,
    ...(isNew ? { acquireTime: now, leaseTransitions: lease?.spec?.renewTime ? leaseTransitions + 1 : 0 } : {}),
  };
}
