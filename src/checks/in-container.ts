/** What all questions about containers begin with: the Engine answers, there is such a container, and it runs. */

import { nearest } from '../base/pure/suggest.ts';
import { containerName, optional } from '../config/leaves.ts';
import type { ContainerEngine, ContainerState, FullInspection } from '../docker/ports.ts';
import { failed } from './rules/results.ts';
import type { CheckResult } from './spec.ts';

/** The key that says in which container to look. */
export const inside = optional(containerName, {
  description: 'Look inside this container.',
  defaultNote: 'on this machine',
  example: 'sandbox',
});

export type FoundContainer = Extract<FullInspection, { kind: 'found' }>;

/**
 * Never rejects. When `signal` aborts because the time is over (a TimeoutError, "no answer within 5 s"), that becomes part of the
 * message: an Engine that hangs is worth one of its own.
 */
export async function inRunning(
  container: string,
  engine: ContainerEngine,
  signal: AbortSignal,
  ask: (found: FoundContainer) => Promise<CheckResult>,
): Promise<CheckResult> {
  try {
    const inspection = await engine.inspect(container, signal);
    switch (inspection.kind) {
      case 'unreachable':
        return failed(inspection.why);
      case 'missing':
        return failed(await whyMissing(container, engine, signal));
      case 'found': {
        const why = whyNotRunning(container, inspection.state);
        return why === null ? await ask(inspection) : failed(why);
      }
      default:
        throw new Error(`no such inspection: ${JSON.stringify(inspection satisfies never)}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return failed(tooLate(signal));
  }
}

async function whyMissing(container: string, engine: ContainerEngine, signal: AbortSignal): Promise<string> {
  const similar = similarName(container, await engine.names(signal));
  if (similar !== null) return `there is no container "${container}". Did you mean "${similar}"?`;
  return `there is no container "${container}": create it, or correct the name ("docker ps -a" lists all there are)`;
}

/** What the reason of the signal says, or else the little that is known. */
export const notInTime = ({ reason }: AbortSignal): string =>
  reason instanceof Error && reason.name === 'TimeoutError' ? reason.message : 'no answer in time';

const tooLate = (signal: AbortSignal): string =>
  `${notInTime(signal)} from the Docker Engine: it hangs or is overloaded; see whether "docker ps" answers, and restart the Engine if it does not`;

// The container that was probably meant: mistyped, or known to Compose by a longer name (`app-web-1` for `web`).

export function similarName(wanted: string, names: readonly string[]): string | null {
  const mistyped = nearest(wanted, names);
  if (mistyped !== null) return mistyped;
  const holders = names.filter((name) => name.split(/[-_.]/).join('-').includes(wanted.split(/[-_.]/).join('-')));
  return holders.length === 1 ? holders[0]! : null;
}

// How a container stands that does not run, and what to do about it.

/** Null: it runs. */
export function whyNotRunning(container: string, state: ContainerState): string | null {
  const who = `container "${container}"`;
  // The Engine calls it running, too, while it is paused and while it waits to be restarted by its own policy.
  if (state.paused) return `${who} is paused: let it go on with "docker unpause ${container}"`;
  if (state.restarting)
    return `${who} does not stay up, Docker is about to restart it (${lastEnd(state)}): see "docker logs ${container}"`;
  if (state.running) return null;
  if (state.status === 'removing') return `${who} is being removed: wait, then create it again`;
  if (state.status === 'dead') return `${who} is dead, Docker failed to remove it: try "docker rm -f ${container}"`;
  if (state.error !== '') return `${who} could not be started: ${state.error}`;
  if (state.status === 'created')
    return `${who} was created and never started: start it with "docker start ${container}"`;
  if (state.status === 'exited')
    return `${who} is stopped (${lastEnd(state)}): start it with "docker start ${container}"`;
  return `${who} is not running, Docker calls it "${state.status}"`;
}

function lastEnd({ exitCode, oomKilled, finishedAt }: ContainerState): string {
  // Out of memory is what the Engine says, never what a code suggests.
  const memory = oomKilled ? ', out of memory' : '';
  return `exit code ${exitCode}${memory}${finishedAt === null ? '' : `, at ${toSeconds(finishedAt)}`}`;
}

/** Nobody needs the nanoseconds. */
const toSeconds = (time: string): string => time.replace(/\.\d+/, '');
