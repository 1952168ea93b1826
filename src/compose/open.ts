/** The services of a compose file and the commands in them, put together: for campaigns and for programs that embed us. */

import { type Clock, systemClock } from '../base/clock.ts';
import { createEngine } from '../docker/engine.ts';
import { killMarked } from '../docker/exec/exec.ts';
import type { EngineClient } from '../docker/ports.ts';
import { createExecs } from './detached/execs.ts';
import { type ExperimentResult, runExperiment } from './experiment.ts';
import type { AttemptCommand, AttemptPlace, Execs } from './ports.ts';
import { type ComposeServices, createServices } from './services.ts';

export type { ExperimentResult };

export interface ComposeOptions {
  /** Decides where the Engine is; all of it is given to Docker Compose. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Both absolute. */
  readonly file: string;
  readonly projectDir: string;
  /** A command in the container that tells of its GPUs as JSON; null: nvidia-smi, or the Python bindings. */
  readonly gpuCommand: readonly string[] | null;
}

export interface OpenedCompose {
  readonly clock: Clock;
  readonly engine: EngineClient;
  readonly services: ComposeServices;
  readonly execs: Execs;
  /** One command from its begin to its end. Rejects only when `signal` aborts. */
  run(
    where: Pick<AttemptPlace, 'service' | 'container'>,
    command: AttemptCommand,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ExperimentResult>;
}

/** Asks nobody anything yet. */
export function openCompose({ env, ...options }: ComposeOptions): OpenedCompose {
  const clock = systemClock;
  const engine = createEngine({ env, clock });
  const execs = createExecs({ engine, clock });
  return {
    clock,
    engine,
    services: createServices({ engine, clock, env, endMarked: killMarked }, options),
    execs,
    run: (where, command, timeoutMs, signal) => runExperiment({ execs, clock }, where, command, timeoutMs, signal),
  };
}
