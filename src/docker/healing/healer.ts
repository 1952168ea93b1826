/** Looks after containers one by one: restarts what is unhealthy or dead, within its budget, and tells. Never blocks who asks for it. */

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
