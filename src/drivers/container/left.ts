/** What is left in the Engine when everything was stopped: containers and networks with our own label. Volumes are never touched. */

import type { ContainerSummary, EngineClient } from '../../docker/ports.ts';
import { LABELS } from '../../docker/rules/labels.ts';
import { isLive } from './begin.ts';

export interface LeftWorld {
  readonly engine: Pick<EngineClient, 'list' | 'networks' | 'removeStopped' | 'removeNetwork'>;
  readonly owner: string;
}

export interface LeftContainers {
  /** Names of containers that do not run. */
  readonly kept: readonly string[];
  readonly removed: readonly string[];
  readonly removedNetworks: readonly string[];
  /** What could not be asked or removed, and why, each a sentence for people. */
  readonly problems: readonly string[];
}

export const NOTHING_LEFT: LeftContainers = { kept: [], removed: [], removedNetworks: [], problems: [] };

const nameOf = ({ names, id }: ContainerSummary): string => names[0] ?? id.slice(0, 12);

/** Rejects only when `signal` aborts. */
export async function lookAtLeft({ engine, owner }: LeftWorld, signal: AbortSignal): Promise<LeftContainers> {
  const listing = await engine.list([`${LABELS.owner}=${owner}`], signal);
  if (listing.kind === 'unreachable') return { ...NOTHING_LEFT, problems: [listing.why] };
  return { ...NOTHING_LEFT, kept: listing.items.filter((item) => !isLive(item)).map(nameOf) };
}

/** Removes what does not run, then the networks. Rejects only when `signal` aborts. */
export async function removeLeft({ engine, owner }: LeftWorld, signal: AbortSignal): Promise<LeftContainers> {
  const labels = [`${LABELS.owner}=${owner}`];
  const [containers, networks] = [await engine.list(labels, signal), await engine.networks(labels, signal)];
  if (containers.kind === 'unreachable') return { ...NOTHING_LEFT, problems: [containers.why] };
  const kept: string[] = [];
  const removed: string[] = [];
  const removedNetworks: string[] = [];
  const problems: string[] = [];
  for (const item of containers.items.filter((each) => !isLive(each))) {
    const action = await engine.removeStopped(item.id, signal);
    const isGone = action.kind === 'done' || action.kind === 'missing';
    (isGone ? removed : kept).push(nameOf(item));
    if (!isGone) problems.push(`the container ${nameOf(item)} could not be removed: ${action.why}`);
  }
  if (networks.kind === 'unreachable') problems.push(networks.why);
  for (const { id, name } of networks.kind === 'listed' ? networks.items : []) {
    const action = await engine.removeNetwork(id, signal);
    if (action.kind === 'done' || action.kind === 'missing') removedNetworks.push(name);
    else problems.push(`the network ${name} could not be removed: ${action.why}`);
  }
  return { kept, removed, removedNetworks, problems };
}
