/** What was made for a component that gave up goes when the configuration says so, and that is told. */
import type { ComponentSpec } from './spec.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Driver } from './ports/driver.ts';
import type { Commit } from './ports/store.ts';

export interface CleanUpWorld {
  readonly driver: Pick<Driver, 'cleanUp'>;
  readonly clock: Clock;
  commit(commit: Commit): void;
}

export const isCleanedUp = ({ driver }: ComponentSpec): boolean =>
  driver.kind === 'container' && driver.cleanup === 'remove';

/** `run`: the one after which it gave up; null: of an earlier daemon, which may not have done it. */
export function cleanUp({ name }: ComponentSpec, run: RunId | null, { driver, clock, commit }: CleanUpWorld): void {
  const event = { subject: { kind: 'component', name }, type: 'component.cleaned-up', run } as const;
  driver.cleanUp(name, (container) => commit({ events: [{ ...event, at: clock.wallNow(), data: { container } }] }));
}
