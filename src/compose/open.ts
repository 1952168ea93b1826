/** The services of a compose file and the commands in them, put together: for campaigns and for programs that embed us. */

import { randomUUID } from 'node:crypto';
import { BoundedOutput } from '../base/bounded-output.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { formatDuration } from '../base/pure/format.ts';
import { after } from '../base/pure/ids.ts';
import { createEngine } from '../docker/engine.ts';
import { killMarked } from '../docker/exec/exec.ts';
import type { EngineClient } from '../docker/ports.ts';
import { createExecs } from './detached/execs.ts';
import type { AttemptCommand, AttemptObservation, AttemptPlace, Execs } from './ports.ts';
import { type ComposeServices, createServices } from './services.ts';
import { timeLimit } from './time-limit.ts';

interface ComposeOptions {
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

// One command in a service, from its begin to its end. Its output and exit code are in the container until they were taken.

export interface ExperimentResult {
  /** What it printed, stdout and stderr in order; of very much, the beginning and the end. */
  readonly output: string;
  readonly exitCode: number;
}

const MAX_OUTPUT_BYTES = 2 ** 24;
/** Short experiments should not wait for us, and long ones need no watching. Mostly the end is heard of before. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = 1_000;
const SLOWER = 1.2;
/** An Engine that is restarted is away for so long at most; what was begun goes on meanwhile. */
const ENGINE_AWAY_MS = 60_000;
/** What `timeout` exits with. */
const TIMED_OUT = 124;
const NEVER = new AbortController().signal;

interface ExperimentParts {
  readonly execs: Execs;
  readonly clock: Clock;
}

type End =
  | Exclude<AttemptObservation, { kind: 'running' | 'unreachable' }>
  | { readonly kind: 'failed'; readonly why: string };

/** Rejects only when `signal` aborts; the command has been ended then, too. */
export async function runExperiment(
  { execs, clock }: ExperimentParts,
  where: Pick<AttemptPlace, 'service' | 'container'>,
  command: AttemptCommand,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ExperimentResult> {
  const place = { ...where, attempt: `run-${randomUUID()}` };
  using time = timeLimit(clock, timeoutMs, signal);
  let isWanted = true;
  try {
    const begun = await execs.begin(place, command, time.signal);
    if (begun.kind !== 'begun' && begun.kind !== 'found') return failed(begun.why);
    const end = await untilItsEnd({ execs, clock }, place, time.signal);
    if (end.kind === 'ended') return { output: await outputOf(execs, place, signal), exitCode: end.exitCode };
    const why = end.kind === 'absent' ? 'its files in the container are gone' : end.why;
    return failed(why, await outputOf(execs, place, signal));
  } catch (error) {
    const isGone = await execs.end(place, NEVER);
    isWanted = !signal.aborted;
    signal.throwIfAborted();
    if (!time.isOver) throw error;
    const left = isGone ? '' : `, and something of it may be left in "${place.service}": restart the service`;
    const why = `it took longer than ${formatDuration(timeoutMs)} and was ended${left}`;
    return { ...failed(why, await outputOf(execs, place, signal)), exitCode: TIMED_OUT };
  } finally {
    // Nobody may come after one that was called off, to take its files away.
    if (isWanted) await execs.forget(place, NEVER);
    else await execs.clear(place, NEVER);
  }
}

async function untilItsEnd({ execs, clock }: ExperimentParts, place: AttemptPlace, signal: AbortSignal): Promise<End> {
  let awaySince: number | null = null;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * SLOWER, LAST_LOOK_MS)) {
    await execs.pause(place, after(clock.now(), pauseMs), signal);
    const observation = await execs.look(place, signal);
    if (observation.kind === 'unreachable') {
      awaySince ??= clock.now();
      if (clock.now() - awaySince > ENGINE_AWAY_MS) return { kind: 'failed', why: observation.why };
      continue;
    }
    awaySince = null;
    // Begun, and its shell has not come to write its claim: the Engine says so only once it has ended.
    if (observation.kind !== 'running') return observation;
  }
}

async function outputOf(execs: Execs, place: AttemptPlace, signal: AbortSignal): Promise<string> {
  const output = new BoundedOutput(MAX_OUTPUT_BYTES / 2, MAX_OUTPUT_BYTES / 2);
  for (;;) {
    const piece = await execs.output(place, output.sizeBytes, signal);
    if (piece.length === 0) return output.text((bytes) => `… ${bytes} bytes left out …`);
    output.add(piece);
  }
}

const failed = (why: string, output = ''): ExperimentResult => ({
  output: output === '' ? why : `${output.replace(/\n?$/, '\n')}${why}`,
  exitCode: 1,
});
