import type { Clock } from './clock.ts';
import type { Failpoints } from './failpoints.ts';
import type { Log } from './log.ts';

/** What a program needs from the machine it runs on, handed in. Each part of the program says which of it it uses: `Pick<Runtime, 'clock' | 'log'>`. */
export interface Runtime {
  readonly clock: Clock;
  readonly log: Log;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly failpoints: Failpoints;
}
