/** Puts together how a daemon starts, watches and ends what runs: processes, containers, things that others started. */
import type { CommandRunner } from '../base/command.ts';
import type { HomePaths } from '../base/home.ts';
import type { Runtime } from '../base/runtime.ts';
import { createComposer } from '../compose/cli/project.ts';
import type { ContainerWatch } from '../docker/container-watch.ts';
import { createEngine } from '../docker/engine.ts';
import { ownerId } from '../docker/owner-id.ts';
import type { ContainerEngine, EngineClient } from '../docker/ports.ts';
import { createContainerWatch } from '../docker/watch/watch.ts';
import type { Driver } from '../supervision/ports/driver.ts';
import type { Sampler } from '../supervision/ports/sampler.ts';
import { type ContainerDriverOptions, createContainerDriver } from './container/container-driver.ts';
import { createContainerSampler } from './container/usage/sampler.ts';
import { createExternalDriver } from './external/external-driver.ts';
import type { Environment } from './launch-run.ts';
import { createCommandRunner } from './process/command-runner.ts';
import { createProcessDriver } from './process/process-driver.ts';
import { findTools } from './process/shim/tools.ts';
import { tryHomeCgroup } from './process/tree/cgroup.ts';
import { createSampler } from './process/usage/sampler.ts';
import { routeRuns } from './router.ts';

export interface DriversOptions extends Runtime {
  readonly paths: HomePaths;
  readonly env: Environment;
  /** The environment that components inherit. */
  readonly base: Readonly<Record<string, string>>;
  readonly softNofile: number | null;
  /** The position behind the last byte of a component's log. */
  logEnd(component: string): number;
  readonly logGap: ContainerDriverOptions['logGap'];
  /** What the project is called now. */
  project(): string;
  /** Values of the project that must never be shown: for what is said of a container, whosever it is. */
  secrets(): readonly string[];
}

export interface Drivers {
  readonly driver: Driver;
  readonly sampler: Sampler;
  /** For short commands of others: channels of alerts, trackers. */
  readonly commands: CommandRunner;
  /** For checks and probes, each of which has its own time. */
  readonly engine: ContainerEngine;
  /** The one client and the one watch of this process, for whoever keeps containers. */
  readonly containers: { readonly engine: EngineClient; readonly watch: ContainerWatch; readonly owner: string };
  /** Lets go of everything; no component is touched. */
  close(): Promise<void>;
}

const cgroupsFor = (env: Environment): 'auto' | 'off' => (env['KEEPWELL_CGROUP'] === 'off' ? 'off' : 'auto');

/** What `openDrivers` would have to wait for, begun while there is other work. */
export async function prepareDrivers({ paths, env }: Pick<DriversOptions, 'paths' | 'env'>): Promise<void> {
  if (cgroupsFor(env) === 'auto') await tryHomeCgroup(paths.home, findTools().sh);
}

export function openDrivers(options: DriversOptions): Drivers {
  const { paths, env, base, clock, log, random, failpoints, softNofile, logEnd, logGap, project, secrets } = options;
  const cgroup = cgroupsFor(env);
  const commands = createCommandRunner({ home: paths.home, cgroup, clock, log, softNofile });
  const engine = createEngine({ env, clock, secrets });
  const watch = createContainerWatch({ engine, clock, log, random });
  const owner = ownerId(paths.home);
  const driver = routeRuns({
    process: createProcessDriver({
      ...{ home: paths.home, runsDir: paths.runs, trashDir: paths.trash, clock, failpoints, log, softNofile, cgroup },
      shim: env['KEEPWELL_SHIM'] === 'sh' ? 'sh' : 'auto',
      ...(env['KEEPWELL_SHIM_DELAY'] ? { shimDelay: env['KEEPWELL_SHIM_DELAY'] } : {}),
    }),
    container: createContainerDriver({
      dir: paths.containers,
      ...{ owner, project, engine, watch, clock, log, failpoints, logEnd, logGap },
      compose: createComposer(base, clock),
    }),
    external: createExternalDriver({ commands, engine, containers: watch, clock, log }),
  });
  const asking = createEngine({ env, clock, secrets, answerWithinMs: null });
  return {
    driver,
    commands,
    engine: asking,
    containers: { engine, watch, owner },
    sampler: createContainerSampler({
      engine: asking,
      clock,
      factsOf: (run) => driver.container(run),
      others: createSampler({ runsDir: paths.runs }),
    }),
    close: async () => {
      await Promise.all([driver.close(), commands.close()]);
      await watch.close();
    },
  };
}
