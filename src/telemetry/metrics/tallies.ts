/** What is counted between two looks, for the names of the configuration only. */

import type { CheckObserver } from '../../checks/observer.ts';
import type { CheckStatus } from '../../checks/spec.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import type { TelemetryNames } from '../ports.ts';

interface ComponentTally {
  restarts: number;
  crashes: number;
  /** Nothing is started for what is only watched. */
  isObserved: boolean;
}

interface CheckTally {
  runs: number;
  /** Null: it has not run yet. */
  status: CheckStatus | null;
}

export class Tallies {
  components: ReadonlyMap<string, ComponentTally> = new Map();
  checks: ReadonlyMap<string, CheckTally> = new Map();

  /** Names that stay keep what they have. True: some went away. */
  name({ components, checks }: TelemetryNames): boolean {
    const before = [this.components, this.checks];
    this.components = kept(this.components, components, () => ({ restarts: 0, crashes: 0, isObserved: false }));
    this.checks = kept(this.checks, checks, () => ({ runs: 0, status: null }));
    const now = [this.components, this.checks];
    return before.some((names, index) => [...names.keys()].some((name) => !now[index]!.has(name)));
  }

  told({ subject, type, data }: EventView): void {
    const tally = subject.kind === 'component' ? this.components.get(subject.name) : undefined;
    if (!tally) return;
    if (type === 'component.exited') {
      tally.isObserved = data['rule'] === 'observed';
      if (data['crash'] === true) tally.crashes += 1;
    }
    const isUnasked = data['attempt'] === 'restart' || data['attempt'] === 'quiet';
    if (type === 'component.starting' && isUnasked && !tally.isObserved) tally.restarts += 1;
  }

  checked(name: string, status: CheckStatus): void {
    const tally = this.checks.get(name);
    if (!tally) return;
    tally.runs += 1;
    tally.status = status;
  }
}

const kept = <T>(before: ReadonlyMap<string, T>, names: readonly string[], fresh: () => T): ReadonlyMap<string, T> =>
  new Map(names.map((name) => [name, before.get(name) ?? fresh()]));

// Counts the answers of the checks.

export const tallyChecks = (tallies: Tallies): CheckObserver => ({
  reportStarted: () => ({
    checkFinished: ({ name, result }) => tallies.checked(name, result.status),
    reportFinished: () => {},
  }),
});
