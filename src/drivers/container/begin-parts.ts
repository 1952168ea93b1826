/** What the beginning of a run needs from the rest of its driver. */
import type { Clock } from '../../base/clock.ts';
import type { Composer } from '../../compose/ports.ts';
import type { ContainerSetup, EngineClient } from '../../docker/ports.ts';
import type { Failpoints } from '../../base/failpoints.ts';
import type { Log } from '../../base/log.ts';
import type { Patience } from './patience.ts';
import type { Ownership } from './plan.ts';

export interface BeginParts extends Patience, Ownership {
  readonly engine: EngineClient;
  readonly compose: Composer;
  readonly clock: Clock;
  readonly log: Log;
  readonly failpoints: Failpoints;
  /** Ends what must not be left half-done only with this daemon. */
  readonly closing: AbortSignal;
  /** From now on the Engine does not restart this container by itself. */
  takePolicy(container: string, setup: ContainerSetup): Promise<void>;
  /** This container will be started; it had been started before at `before`. Written down before anything is done. */
  chosen(container: string, before: string): void;
}
