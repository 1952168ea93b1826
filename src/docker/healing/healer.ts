/** Looks after containers one by one: restarts what is unhealthy or dead, within its budget, and tells. Never blocks who asks for it. */
import { systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ContainerWatch } from '../container-watch.ts';
import { createEngine } from '../engine.ts';
import type { EngineClient } from '../ports.ts';
import { createContainerWatch } from '../watch/watch.ts';
import { beginHealing, createSlots, type HealingParts } from './healing.ts';
import type { Healer, Healing } from './ports.ts';

/** Many restarts at once must not flood the Engine. */
const RESTARTS_AT_ONCE = 4;
/** Then it only waits for a container that takes its whole grace to end: that costs nothing, and must not hold up the others. */
const BEGUN_AFTER_MS = 1_000;

export function createHealer(parts: Omit<HealingParts, 'slots'>): Healer {
  const slots = createSlots({ atOnce: RESTARTS_AT_ONCE, holdMs: BEGUN_AFTER_MS, clock: parts.clock });
  const all = new Map<string, Healing>();
  return {
    begin: (container, policy, callbacks) => {
      if (all.has(container)) throw new Error(`the container ${container} is looked after already`);
      const order = { container, policy, callbacks };
      const healing = beginHealing({ ...parts, slots }, order, () => all.delete(container));
      all.set(container, healing);
      return healing;
    },
    close: async () => {
      for (const healing of [...all.values()]) healing[Symbol.dispose]();
      await slots.idle();
    },
  };
}

// Everything that looks after containers without a daemon around it: one client, one watch and one healer for a process.

export interface CareOptions {
  /** Says where the Engine is: DOCKER_HOST and its like. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** How often all that is watched is compared with the Engine's list, beside its events. */
  readonly reconcileMs: number;
}

export interface ContainerCare extends Pick<Runtime, 'clock' | 'random'> {
  readonly engine: EngineClient;
  readonly watch: ContainerWatch;
  readonly healer: Healer;
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
