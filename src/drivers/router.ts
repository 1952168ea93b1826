/** Gives every run to the driver of its kind. Those that nobody here knows are processes: only those leave traces on disk. */
import type { RunId } from '../core/ids.ts';
import type { Driver, ExternalDriver, ProcessDriver } from '../ports/driver.ts';

export interface Drivers {
  readonly process: ProcessDriver;
  readonly external: ExternalDriver;
}

export function routeRuns({ process, external }: Drivers): Driver {
  const externals = new Set<RunId>();
  const of = (run: RunId) => (externals.has(run) ? external : process);
  return {
    treeMechanism: process.treeMechanism,
    start: (launch, report) => {
      if (launch.kind === 'process') return process.start(launch, report);
      externals.add(launch.run);
      external.start(launch, report);
    },
    found: () => process.found(),
    adopt: (run, spec, report) => {
      if (spec.kind === 'process') return process.adopt(run, report);
      externals.add(run);
      external.adopt(run, spec, report);
    },
    signal: (run, signal) => of(run).signal(run, signal),
    killTree: (run) => of(run).killTree(run),
    condition: (run) => (externals.has(run) ? external.condition(run) : null),
    limits: (run) => (externals.has(run) ? [] : process.limits(run)),
    survivors: (run) => of(run).survivors(run),
    examine: (run, dump) => of(run).examine(run, dump),
    release: (run) => {
      of(run).release(run);
      externals.delete(run);
    },
    close: async () => {
      await Promise.all([process.close(), external.close()]);
    },
  };
}
