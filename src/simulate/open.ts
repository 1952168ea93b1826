/** Simulated crashes in the daemon: put together from what it has. */

import { join } from 'node:path';
import { agentRuns } from '../agents/ours.ts';
import type { DaemonAgents } from '../agents/service.ts';
import type { Clock } from '../base/clock.ts';
import type { HomePaths } from '../base/home.ts';
import { meansGone } from '../base/pure/errno.ts';
import type { SignalName } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { sameProcess } from '../drivers/process/proc.ts';
import { readStarted } from '../drivers/process/run-dir.ts';
import type { Incidents } from '../incidents/ports.ts';
import type { Driver } from '../supervision/ports/driver.ts';
import type { EventView } from '../supervision/rules/views.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { Rehearsals } from './rehearsals.ts';
import { createSimulations, type Simulations } from './simulations.ts';

export interface SimulateParts {
  readonly paths: HomePaths;
  readonly rehearsals: Rehearsals;
  readonly driver: Pick<Driver, 'signal' | 'survivors'>;
  readonly clock: Pick<Clock, 'wallNow'>;
  readonly incidentService: Pick<Incidents, 'incidents' | 'recovered'>;
  config(): ResolvedConfig;
  readonly supervisor: Pick<Supervisor, 'views' | 'restart'>;
  readonly agents: Pick<DaemonAgents, 'list' | 'spawn' | 'runs'>;
  subscribe(listener: (event: EventView) => void): unknown;
}

export function openSimulations(parts: SimulateParts): Simulations {
  const { paths, rehearsals, driver, clock, incidentService, config, supervisor, agents } = parts;
  const places = [paths.runs, agentRuns(paths)];
  const simulations = createSimulations(
    {
      view: (name) => supervisor.views().find((view) => view.name === name) ?? null,
      specs: () => config().components,
      agents: () => config().agents,
      runningAgents: () => agents.list().filter(({ state, source }) => state === 'running' && source === 'keepwell'),
      hasAgentFor: (task) => agents.list().some(({ task_id, source }) => task_id === task && source === 'keepwell'),
      spawn: (type, task) => agents.spawn({ type, task }),
      restart: (name) => supervisor.restart([name]),
      signalMain: (run: RunId, signal: SignalName) => places.some((dir) => signalMain(dir, run, signal)),
      kill: (run) => driver.signal(run, 'SIGKILL'),
      freeze: (run) => freezeAll(driver, run),
      freezeAgent: (run) => freezeAll(agents.runs, run),
      now: () => clock.wallNow(),
    },
    rehearsals,
    incidentService,
  );
  // Nobody will ever finish a task that does not exist. Behind the crash, which is being written.
  parts.subscribe(({ subject, type, data }) => {
    const task = data['task'];
    if (type === 'agent.gave-up' && typeof task === 'string' && rehearsals.ofTask(task) !== null)
      queueMicrotask(() => incidentService.recovered(subject, task));
  });
  simulations.begin();
  return simulations;
}

// SIGSTOP to everything that belongs to a run. A signal reaches the process group of a process, or the first process of a container: what
// runs beside these would go on, and an `init` in a container would hang in the place of the program.

/** Each time, what was begun by those that were not stopped yet. */
const SWEEPS = 3;
const STOPPED = 'T';

/** Resolves when there is nobody left whom we could stop. */
export async function freezeAll(driver: Pick<Driver, 'signal' | 'survivors'>, run: RunId): Promise<void> {
  driver.signal(run, 'SIGSTOP');
  for (let round = 0; round < SWEEPS; round++) {
    const going = (await driver.survivors(run)).filter(({ state }) => state !== STOPPED);
    for (const { pid } of going) stop(pid);
    if (going.length === 0) return;
  }
}

function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGSTOP');
  } catch {
    // It is gone, or another user's in a container that we only know through the Engine: its first process was stopped.
  }
}

// A signal to the main process of a run, and to nobody who has its number by now.

/** False: it is gone, or was never there. Throws when that is not known just now. */
export function signalMain(runsDir: string, run: RunId, signal: SignalName): boolean {
  const main = readStarted(join(runsDir, run));
  if (!main || !sameProcess(main.pid, main.startTime)) return false;
  try {
    process.kill(main.pid, signal as NodeJS.Signals);
    return true;
  } catch (error) {
    if (!meansGone(error)) throw error;
    return false;
  }
}
