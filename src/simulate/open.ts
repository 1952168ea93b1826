/** Simulated crashes in the daemon: put together from what it has. */
import type { ResolvedConfig } from '../config/load.ts';
import type { SignalName } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Agents } from '../agents/ports.ts';
import type { Clock } from '../base/clock.ts';
import type { Driver } from '../supervision/ports/driver.ts';
import type { Casework } from '../incidents/ports.ts';
import type { Store } from '../supervision/ports/store.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { agentRuns } from '../agents/ours.ts';
import type { HomePaths } from '../base/home.ts';
import { freezeAll } from './freeze-all.ts';
import { signalMain } from './signal-main.ts';
import { createSimulations, type Simulations } from './simulations.ts';

export interface SimulateParts {
  readonly paths: HomePaths;
  readonly store: Store;
  readonly driver: Pick<Driver, 'signal' | 'survivors'>;
  readonly clock: Pick<Clock, 'wallNow'>;
  readonly casework: Pick<Casework, 'incidents' | 'recovered'>;
  config(): ResolvedConfig;
  /** Asked for when somebody wants a crash: they are made after this. */
  supervisor(): Pick<Supervisor, 'views' | 'restart'>;
  agents(): Pick<Agents, 'list' | 'spawn'>;
}

export function openSimulations(parts: SimulateParts): Simulations {
  const { paths, store, driver, clock, casework, config, supervisor, agents } = parts;
  const places = [paths.runs, agentRuns(paths)];
  return createSimulations(
    {
      view: (name) =>
        supervisor()
          .views()
          .find((view) => view.name === name) ?? null,
      specs: () => config().components,
      agents: () => config().agents,
      runningAgents: () =>
        agents()
          .list()
          .filter(({ state, source }) => state === 'running' && source === 'keepwell'),
      hasAgentFor: (task) =>
        agents()
          .list()
          .some(({ task_id, source }) => task_id === task && source === 'keepwell'),
      spawn: (type, task) => agents().spawn({ type, task }),
      restart: (name) => supervisor().restart([name]),
      signalMain: (run: RunId, signal: SignalName) => places.some((dir) => signalMain(dir, run, signal)),
      kill: (run) => driver.signal(run, 'SIGKILL'),
      freeze: (run) => freezeAll(driver, run),
      now: () => clock.wallNow(),
    },
    store,
    casework,
  );
}
