/** What asking checks needs from the outside. */

import type { Clock } from '../base/clock.ts';
import type { Stalls } from '../base/stall-watch.ts';
import type { ContainerEngine } from '../docker/ports.ts';
import type { Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import type { ComponentView } from '../supervision/rules/views.ts';
import type { CheckObserver } from './observer.ts';

export interface CheckParts {
  readonly clock: Clock;
  readonly stalls: Stalls;
  /** Whose environment `env` is, for people: "the daemon". */
  readonly whose: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened when the first check wants it: most reports need neither. */
  prober(): Promise<Pick<Prober, 'open'>>;
  engine(): Promise<ContainerEngine>;
  /** Stands in for the run that a probe is about: a check is about none. */
  readonly target: ProbeTarget;
  /** How the components are right now. */
  components(): Promise<readonly ComponentView[]>;
  readonly observer: CheckObserver;
}
