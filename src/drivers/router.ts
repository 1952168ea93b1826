/**
 * Gives every run to the driver of its kind. What was left on disk belongs to the driver that found it; a run that nobody here
 * knows is a process.
 */

import type { RunId } from '../base/pure/ids.ts';
import type { ContainerDriver, Driver, ExternalDriver, ProcessDriver } from '../supervision/ports/driver.ts';
import { runsInContainer } from '../supervision/spec.ts';

export interface Drivers {
  readonly process: ProcessDriver;
  readonly container: ContainerDriver;
  readonly external: ExternalDriver;
}

export function routeRuns({ process, container, external }: Drivers): Driver {
  const externals = new Set<RunId>();
  const containers = new Set<RunId>();
  const of = (run: RunId) => (externals.has(run) ? external : containers.has(run) ? container : process);
  return {
    treeMechanism: process.treeMechanism,
    get shim() {
      return process.shim;
    },
    start: (launch, report) => {
      if (launch.kind === 'process') return process.start(launch, report);
      if (launch.kind === 'container' || launch.kind === 'compose') {
        containers.add(launch.run);
        return container.start(launch, report);
      }
      if (launch.kind === 'kubernetes') throw new Error('no cluster is open'); // its own driver stands before this one
      externals.add(launch.run);
      external.start(launch, report);
    },
    found: () => {
      const made = container.found();
      for (const { run } of made) containers.add(run);
      return [...process.found(), ...made].sort((a, b) => (a.run < b.run ? 1 : -1));
    },
    adopt: (run, spec, report) => {
      // What the configuration says now may be of another kind than what was begun.
      if (containers.has(run) || runsInContainer(spec)) {
        containers.add(run);
        return container.adopt(run, report);
      }
      if (spec.kind === 'process') return process.adopt(run, report);
      if (spec.kind !== 'external') throw new Error(`no driver for ${spec.kind}`);
      externals.add(run);
      external.adopt(run, spec, report);
    },
    signal: (run, signal) => of(run).signal(run, signal),
    killTree: (run) => of(run).killTree(run),
    condition: (run) =>
      externals.has(run) ? external.condition(run) : containers.has(run) ? container.condition(run) : null,
    doubt: (run) => process.doubt(run),
    container: (run) => (containers.has(run) ? container.container(run) : null),
    isOutdated: async (run, spec) => containers.has(run) && (await container.isOutdated(run, spec)),
    limits: (run) => (externals.has(run) ? [] : (containers.has(run) ? container : process).limits(run)),
    survivors: (run) => of(run).survivors(run),
    examine: (run, dump) => of(run).examine(run, dump),
    release: (run) => {
      of(run).release(run);
      externals.delete(run);
      containers.delete(run);
    },
    startedByOthers: (component) => container.startedByOthers(component),
    cleanUp: (component, done) => container.cleanUp(component, done),
    letGo: (component) => container.letGo(component),
    tidy: (isKnown, isCompose) => container.tidy(isKnown, isCompose),
    close: async () => {
      await Promise.all([process.close(), container.close(), external.close()]);
    },
  };
}
