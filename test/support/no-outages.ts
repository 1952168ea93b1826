/** An Engine that is always there, for tests in which it does not matter. */
import type { Outages } from '../../src/campaigns/outages.ts';

export const NO_OUTAGES: Outages = {
  count: 0,
  isAway: false,
  awayMs: 0,
  over: async () => {},
  [Symbol.dispose]: () => {},
};
