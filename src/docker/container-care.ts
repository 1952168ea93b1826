/** Everything that looks after containers without a daemon around it: one client, one watch and one healer for a process. */

import { type Clock, systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ContainerWatch } from './container-watch.ts';
import { createEngine } from './engine.ts';
import { createHealer } from './healing/healer.ts';
import type { Healer } from './healing/ports.ts';
import type { EngineClient } from './ports.ts';
import { createContainerWatch } from './watch/watch.ts';

export interface CareOptions {
  /** Says where the Engine is: DOCKER_HOST and its like. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** How often all that is watched is compared with the Engine's list, beside its events. */
  readonly reconcileMs: number;
}

export interface ContainerCare {
  readonly engine: EngineClient;
  readonly watch: ContainerWatch;
  readonly healer: Healer;
  readonly clock: Clock;
  random(): number;
  /** Lets go of everything; no container is touched. */
  close(): Promise<void>;
}

export function openContainerCare({ env, log, reconcileMs }: CareOptions): ContainerCare {
  const clock = systemClock;
  const random = Math.random;
  const engine = createEngine({ env, clock });
  const watch = createContainerWatch({ engine, clock, log, random, reconcileMs });
  const healer = createHealer({ engine, watch, clock, random, log });
  return {
    engine,
    watch,
    healer,
    clock,
    random,
    close: async () => {
      await healer.close();
      await watch.close();
    },
  };
}
