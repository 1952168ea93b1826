/** Looks after containers one by one: restarts what is unhealthy or dead, within its budget, and tells. Never blocks who asks for it. */
import type { Healer, Healing } from '../ports/healing.ts';
import { beginHealing, type HealingParts } from './healing.ts';
import { createSlots } from './slots.ts';

/** Stopping may take the whole grace: one that is slow must not hold up the others, and many must not flood the Engine. */
const RESTARTS_AT_ONCE = 4;

export function createHealer(parts: Omit<HealingParts, 'slots'>): Healer {
  const slots = createSlots(RESTARTS_AT_ONCE);
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
