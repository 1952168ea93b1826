/** A limit that cannot be kept on this machine is said aloud with every run: once in the log, once as an event. */
import type { ComponentSpec } from './spec.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Driver } from './ports/driver.ts';
import type { Log } from '../base/log.ts';
import type { Commit } from './ports/store.ts';

export interface UnlimitedWorld {
  readonly driver: Pick<Driver, 'limits'>;
  readonly clock: Clock;
  readonly log: Log;
  commit(commit: Commit): void;
}

export function tellUnlimited(
  { name: component }: ComponentSpec,
  run: RunId,
  { driver, clock, log, commit }: UnlimitedWorld,
): void {
  for (const { name, max, mechanism, note } of driver.limits(run)) {
    if (mechanism !== null) continue;
    const data = { limit: name, max, why: note };
    log.warn('a limit is not in force', { component, run, ...data });
    const subject = { kind: 'component', name: component } as const;
    commit({ events: [{ at: clock.wallNow(), subject, type: 'component.unlimited', run, data }] });
  }
}
