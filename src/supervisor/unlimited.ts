/** A limit that cannot be kept on this machine is said aloud with every run: once in the log, once as an event. */
import type { ComponentSpec } from '../core/component.ts';
import type { RunId } from '../core/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Driver } from '../ports/driver.ts';
import type { Log } from '../ports/log.ts';
import type { Commit } from '../ports/store.ts';

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
