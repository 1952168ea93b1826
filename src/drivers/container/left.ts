/** What is left in the Engine when everything was stopped: containers and networks with our own label. Volumes are never touched. */

import { systemClock } from '../../base/clock.ts';
import { homePaths, type Project } from '../../base/home.ts';
import type { Log } from '../../base/log.ts';
import { isMissing } from '../../base/regular-file.ts';
import { createEngine } from '../../docker/engine.ts';
import { knownOwnerId } from '../../docker/owner-id.ts';
import type { ContainerSummary, EngineClient } from '../../docker/ports.ts';
import { LABELS } from '../../docker/rules/labels.ts';
import type { Environment } from '../launch-run.ts';
import { isLive } from './begin.ts';
import { putBackAll } from './restart-policies.ts';

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
  for (const item of containers.items) {
    if (isLive(item)) {
      const name = nameOf(item);
      problems.push(`the container ${name} runs, so it is not removed; "docker rm -f ${name}" does that`);
      continue;
    }
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

// When no daemon runs: looked at or removed, and what daemons could not put back is put back.

/** Whoever only wants to know is waiting at a terminal. */
const LOOK_WITHIN_MS = 2_000;
const TOO_SLOW = 'the Docker Engine does not answer in time';

/** For a daemon that has stopped everything. What does not work is logged. Never rejects. */
export async function removeContainers(world: LeftWorld, log: Log): Promise<void> {
  try {
    const { removed, removedNetworks, problems } = await removeLeft(world, new AbortController().signal);
    log.info('removed what was made for this project', { containers: removed, networks: removedNetworks });
    for (const problem of problems) log.warn('something made for this project is left', { problem });
  } catch (error) {
    log.error('what was made for this project could not be removed', { error: String(error) });
  }
}

/** The caller has seen that no daemon holds the project. Never rejects for what the Engine does. */
export async function leftContainers(
  { home }: Project,
  env: Environment,
  { remove }: { readonly remove: boolean },
): Promise<LeftContainers> {
  const { containers: dir } = homePaths(home);
  const owner = knownOwnerId(home);
  const hadContainers = !isMissing(dir);
  if (owner === null || !(remove || hadContainers)) return NOTHING_LEFT;
  const engine = createEngine({ env, clock: systemClock });
  const over = new AbortController();
  const timer = remove ? undefined : setTimeout(() => over.abort(), LOOK_WITHIN_MS);
  try {
    // Where there never was a container of a component, there may still be what sessions left, and there may be no Engine at all.
    if (!hadContainers && (await engine.ping(over.signal)).kind === 'unreachable') return NOTHING_LEFT;
    const policies = await putBackAll({ dir, engine }, over.signal);
    const left = await (remove ? removeLeft : lookAtLeft)({ engine, owner }, over.signal);
    const problems = policies.map(
      ({ container, why }) => `the restart policy of ${container} could not be put back as it was: ${why}`,
    );
    return { ...left, problems: [...problems, ...left.problems] };
  } catch (error) {
    return { ...NOTHING_LEFT, problems: [over.signal.aborted ? TOO_SLOW : (error as Error).message] };
  } finally {
    clearTimeout(timer);
  }
}
