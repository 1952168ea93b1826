/** The only file that knows which implementations stand behind the ports through which a daemon sees and touches the world. */

import { systemClock } from '../base/clock.ts';
import type { CommandRunner } from '../base/command.ts';
import type { Failpoints } from '../base/failpoints.ts';
import type { HomePaths } from '../base/home.ts';
import type { Log } from '../base/log.ts';
import { programFile } from '../base/program-file.ts';
import { createComposer } from '../compose/composer.ts';
import type { ContainerWatch } from '../docker/container-watch.ts';
import { createEngine } from '../docker/engine.ts';
import type { ContainerEngine, EngineClient } from '../docker/ports.ts';
import { createContainerWatch } from '../docker/watch/watch.ts';
import { type ContainerDriverOptions, createContainerDriver } from '../drivers/container/container-driver.ts';
import { createContainerSampler } from '../drivers/container/usage/sampler.ts';
import { createExternalDriver } from '../drivers/external/external-driver.ts';
import { type Environment, environmentOf } from '../drivers/launch-run.ts';
import { createCommandRunner } from '../drivers/process/command-runner.ts';
import { isThere } from '../drivers/process/is-there.ts';
import { isHeldBy, isOfARun, searchPortHolder } from '../drivers/process/port-holder.ts';
import { createProcessDriver } from '../drivers/process/process-driver.ts';
import { createSampler } from '../drivers/process/usage/sampler.ts';
import { routeRuns } from '../drivers/router.ts';
import type { HoldStill } from '../logs/log-keeping.ts';
import { createLogWatch, type LogWatchOptions } from '../probes/log/log-watch.ts';
import { ownPortProber } from '../probes/own-port-prober.ts';
import { createProber } from '../probes/prober.ts';
import { redactingProber } from '../probes/redacting-prober.ts';
import type { Driver } from '../supervision/ports/driver.ts';
import type { Prober } from '../supervision/ports/prober.ts';
import type { Sampler } from '../supervision/ports/sampler.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import { ownerId } from './owner-id.ts';

export interface EdgeOptions {
  readonly paths: HomePaths;
  readonly env: Environment;
  readonly log: Log;
  readonly failpoints: Failpoints;
  readonly softNofile: number | null;
}

export interface Edges {
  readonly driver: Driver;
  readonly prober: Prober;
  readonly sampler: Sampler;
  /** For short commands of others: channels of alerts, trackers. */
  readonly commands: CommandRunner;
  /** For checks, each of which has its own time. */
  readonly engine: ContainerEngine;
  /** The one client and the one watch of this process, for whoever keeps containers. */
  readonly containers: { readonly engine: EngineClient; readonly watch: ContainerWatch; readonly owner: string };
  /** Nobody reads this log until its shortening is done. */
  readonly holdStill: HoldStill;
  /** Lets go of everything; no component is touched. */
  close(): Promise<void>;
}

/** What edges need to know about the rest. */
export interface EdgeWorld {
  logPath(spec: ComponentSpec): string;
  /** The position behind the last byte of a component's log. */
  logEnd(component: string): number;
  readonly logGap: ContainerDriverOptions['logGap'];
  readonly place: LogWatchOptions['place'];
  /** What the project is called now. */
  project(): string;
  /** Values of a component that must never be shown. */
  secretsOf(spec: ComponentSpec): readonly string[];
  /** Those of the project as a whole: for what is said of a container, whosever it is. */
  secrets(): readonly string[];
}

/** `base`: the environment that components inherit. */
export function openEdges(
  { paths, env, log, failpoints, softNofile }: EdgeOptions,
  base: Readonly<Record<string, string>>,
  { logPath, logEnd, logGap, place, project, secretsOf, secrets }: EdgeWorld,
): Edges {
  const clock = systemClock;
  const cgroup = env['KEEPWELL_CGROUP'] === 'off' ? 'off' : 'auto';
  const commands = createCommandRunner({ home: paths.home, cgroup, clock, log, softNofile });
  const engine = createEngine({ env, clock, secrets });
  const watch = createContainerWatch({ engine, clock, log, random: Math.random });
  const owner = ownerId(paths.home);
  const driver = routeRuns({
    process: createProcessDriver({
      home: paths.home,
      runsDir: paths.runs,
      trashDir: paths.trash,
      clock,
      failpoints,
      log,
      softNofile,
      ...(env['KEEPWELL_SHIM_DELAY'] ? { shimDelay: env['KEEPWELL_SHIM_DELAY'] } : {}),
      cgroup,
    }),
    container: createContainerDriver({
      dir: paths.containers,
      ...{ owner, project, engine, watch, clock, log, failpoints, logEnd, logGap },
      compose: createComposer(base, clock),
    }),
    external: createExternalDriver({ commands, engine, containers: watch, clock, log }),
  });
  const logs = createLogWatch({ logPath, workerFile: programFile('pattern-worker.cjs'), log, place });
  const asking = createEngine({ env, clock, secrets, answerWithinMs: null });
  const prober = createProber({
    commands,
    logs,
    environmentOf: (spec) => environmentOf(spec, base),
    isAlive: isThere,
    inside: { engine: asking, containerOf: (run) => driver.container(run)?.id ?? null },
  });
  const ownPorts = ownPortProber(prober, {
    pidsOf: async (run) => (await driver.survivors(run).catch(() => [])).map(({ pid }) => pid),
    isHeldBy,
    holderOf: searchPortHolder,
    isOfARun,
    now: () => clock.now(),
    warn: (message, facts) => log.warn(`${message}; its probe asks somebody else`, facts),
  });
  return {
    driver,
    commands,
    engine: asking,
    containers: { engine, watch, owner },
    holdStill: logs.holdStill,
    sampler: createContainerSampler({
      engine: asking,
      clock,
      factsOf: (run) => driver.container(run),
      others: createSampler({ runsDir: paths.runs }),
    }),
    prober: redactingProber(ownPorts, secretsOf),
    close: async () => {
      await Promise.all([driver.close(), logs.close(), commands.close()]);
      await watch.close();
    },
  };
}
