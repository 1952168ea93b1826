/** What is left of containers when no daemon runs: looked at or removed, and what daemons could not put back is put back. */

import { existsSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { homePaths, type Project } from '../base/home.ts';
import type { Log } from '../base/log.ts';
import { createEngine } from '../docker/engine.ts';
import {
  type LeftContainers,
  type LeftWorld,
  lookAtLeft,
  NOTHING_LEFT,
  removeLeft,
} from '../drivers/container/left.ts';
import { putBackAll } from '../drivers/container/restart-policies.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { knownOwnerId } from './owner-id.ts';

export { NOTHING_LEFT };

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
  const hadContainers = existsSync(dir);
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
