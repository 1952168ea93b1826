/**
 * The network of isolated sessions: one bridge for all of them, on which containers cannot reach each other and from which nothing
 * is translated to the world. One bridge each would run out of address ranges after some thirty (decision 0021).
 */
import { createHash } from 'node:crypto';
import type { EngineClient, Unreachable } from '../docker/ports.ts';
import { LABELS } from '../docker/rules/labels.ts';

/** Always the same for an owner, and always with this beginning: the guide has firewall rules for "kw-+". The kernel allows 15. */
const bridgeOf = (owner: string): string => `kw-${createHash('sha256').update(owner).digest('hex').slice(0, 12)}`;

const optionsOf = (owner: string) => ({
  'com.docker.network.bridge.name': bridgeOf(owner),
  'com.docker.network.bridge.enable_icc': 'false',
  'com.docker.network.bridge.enable_ip_masquerade': 'false',
});
/** On the network it says nothing about one session. */
const MARK = 'network';

export type NetworkResult =
  | { readonly kind: 'there'; readonly id: string }
  | { readonly kind: 'failed'; readonly why: string }
  | Unreachable;

const labels = (owner: string): readonly string[] => [`${LABELS.owner}=${owner}`, `${LABELS.session}=${MARK}`];

/** Looks, and makes it if it is not there. The caller sees to it that nobody else does at the same time. */
export async function ensureNetwork(engine: EngineClient, owner: string, signal: AbortSignal): Promise<NetworkResult> {
  const listing = await engine.networks(labels(owner), signal);
  if (listing.kind === 'unreachable') return listing;
  const there = listing.items[0];
  if (there) return { kind: 'there', id: there.id };
  const network = {
    name: `keepwell-sessions-${owner}`,
    labels: { [LABELS.owner]: owner, [LABELS.session]: MARK },
    internal: false,
    options: optionsOf(owner),
  };
  const made = await engine.createNetwork(network, signal);
  if (made.kind === 'created') return { kind: 'there', id: made.id };
  if (made.kind === 'unreachable') return made;
  return { kind: 'failed', why: `the network of sessions could not be made: ${made.why}` };
}

/** For when there is no session any more. What does not go now goes another time. */
export async function removeNetworks(engine: EngineClient, owner: string, signal: AbortSignal): Promise<void> {
  const listing = await engine.networks(labels(owner), signal);
  if (listing.kind === 'unreachable') return;
  for (const { id } of listing.items) await engine.removeNetwork(id, signal);
}
