/** What a daemon does with the runs that earlier daemons left behind: every one of them is accounted for, none is doubled. */
import { type ExitCause, exitView } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { ComponentRunner } from './component-runner.ts';
import type { Driver, FoundRun } from './ports/driver.ts';
import type { ComponentCommit, ComponentStore } from './ports/store.ts';
import { runOf } from './rules/status.ts';
import type { DriverSpec } from './spec.ts';

export interface AdoptionWorld extends Pick<Runtime, 'clock' | 'log'> {
  readonly driver: Driver;
  readonly history: Pick<ComponentStore, 'run'>;
  commit(commit: ComponentCommit): void;
  /** The runner of this component; for one the configuration does not name any more, a runner that will only end it. */
  runnerFor(found: FoundRun): ComponentRunner;
}

const REBOOT: ExitCause = { kind: 'unknown', why: 'the machine was restarted' };

/** Gives every run found on disk to its runner, or closes its books. Runs are taken newest first. */
export function adoptAll(runners: readonly ComponentRunner[], world: AdoptionWorld): void {
  const taken = new Set<ComponentRunner>();
  const found = world.driver.found();
  const traces = new Set(found.map(({ run }) => run));
  for (const runner of runners) {
    // The record names its run: that one first, whether its directory is still there or not. Unless a later one exists, begun by
    // a daemon that could not write its history: with a full disk, or one of an older version.
    const run = runOf(runner.component.state);
    if (run === null || found.some((other) => isLater(other, run, runner.name, world))) continue;
    taken.add(runner);
    runner.adopt(traces.has(run));
  }
  for (const each of found) {
    if (!each.sameBoot) closeBooks(each, world);
    else if (world.history.run(each.run)?.endedAt != null)
      world.driver.release(each.run); // recorded, but not cleared away
    else {
      const runner = world.runnerFor(each);
      if (!taken.has(runner)) {
        taken.add(runner);
        runner.adoptUnrecorded(each.run);
      } else if (runOf(runner.component.state) !== each.run) endDouble(each, runner.spec.driver, world);
    }
  }
  for (const runner of runners) if (!taken.has(runner)) runner.adopt(false);
}

/** A later run of the same component, whose end nobody has recorded. The ids of runs sort by time. */
const isLater = (
  { run, component, sameBoot }: FoundRun,
  than: RunId,
  name: string,
  { history }: AdoptionWorld,
): boolean => component === name && sameBoot && run > than && history.run(run)?.endedAt == null;

/** Nothing of an earlier boot can be alive. */
function closeBooks({ run, component }: FoundRun, { clock, commit, driver }: AdoptionWorld): void {
  const at = clock.wallNow();
  const exit = exitView(REBOOT);
  commit({
    runEnded: {
      run,
      component,
      at,
      uptimeMs: 0,
      exit,
      planned: true,
      good: false,
      decision: 'ended with the machine',
      rule: 'planned-stop',
    },
    onDurable: () => driver.release(run),
  });
}

/** Two live runs of one component should be impossible; if it ever happens the newer one stays, and it is said. */
function endDouble({ run, component }: FoundRun, spec: DriverSpec, world: AdoptionWorld): void {
  const { driver, log, clock, commit } = world;
  log.error('a second run of one component was found; ending the older one', { component, run });
  driver.adopt(run, spec, (report) => {
    if (report.kind === 'started') driver.killTree(run);
    if (report.kind !== 'exited' && report.kind !== 'spawn-failed') return;
    const cause: ExitCause =
      report.kind === 'exited' ? report.cause : { kind: 'spawn-failed', problem: report.problem };
    const at = clock.wallNow();
    const ended = { run, component, at, uptimeMs: 0, exit: exitView(cause), planned: true, good: false } as const;
    commit({
      runEnded: { ...ended, decision: 'ended: a newer run exists', rule: 'planned-stop' },
      onDurable: () => driver.release(run),
    });
  });
}
