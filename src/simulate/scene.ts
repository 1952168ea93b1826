/** What a simulated crash needs to know of everything that runs, and may do to it. */

import type { AgentView } from '../agents/rules/views.ts';
import type { AgentsSpec } from '../agents/spec.ts';
import { AppError } from '../base/pure/errors.ts';
import type { SignalName } from '../base/pure/exit.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import type { CrashKind, SimulationView } from '../supervision/rules/simulation.ts';
import type { ComponentView } from '../supervision/rules/views.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import type { StandInKind } from './rules/stand-in.ts';

export interface Scene {
  view(component: string): ComponentView | null;
  specs(): readonly ComponentSpec[];
  agents(): AgentsSpec;
  /** Ours, in the order in which they were spawned. */
  runningAgents(): readonly AgentView[];
  /** Running, or about to be respawned. */
  hasAgentFor(task: string): boolean;
  spawn(type: string, task: string): Promise<unknown>;
  /** By hand. */
  restart(component: string): void;
  /** To the main process alone, if it is still the one that was begun. False: it is gone. */
  signalMain(run: RunId, signal: SignalName): boolean;
  /** To the container of the run: SIGKILL. */
  kill(run: RunId): void;
  /** SIGSTOP to all processes of the run. */
  freeze(run: RunId): Promise<void>;
  now(): WallMs;
}

/** What a process dies of that no longer knows what it does. */
export const SEGFAULT: SignalName = 'SIGSEGV';

export const isStandIn = (kind: CrashKind): kind is StandInKind => kind !== 'signal' && kind !== 'hang';

export const refused = (name: string, problem: string, hint: string): AppError =>
  new AppError('NOT_SIMULATED', { name, problem, hint });

export interface Told extends Pick<SimulationView, 'kind' | 'subject' | 'steps' | 'pid'> {
  readonly dryRun: boolean;
  readonly task: string | null;
  readonly run: RunId | null;
}

export const simulationView = ({ dryRun, task, run, ...rest }: Told): SimulationView => ({
  ...{ schema_version: 1, dry_run: dryRun, ...rest },
  ...{ task_id: task, run_id: run },
});
