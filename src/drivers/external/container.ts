/** A target that is a container of the Docker Engine. While the Engine cannot be asked, nothing is known of its containers. */
import { constants } from 'node:os';
import type { ExitCause, SignalName } from '../../core/exit.ts';
import type { ContainerState, Engine } from '../../ports/engine.ts';
import { type Eye, type Found, gone, type Sight, there, unknown } from './eye.ts';

/** All containers are asked about in one place. */
export const ENGINE = 'the Docker Engine';

export function containerEye(name: string, engine: Engine): Eye {
  return {
    failuresNeeded: 1,
    asks: ENGINE,
    look: async (known, signal) => {
      const inspection = await engine.inspect(name, signal);
      switch (inspection.kind) {
        case 'unreachable':
          return unknown(inspection.why);
        case 'missing':
          return gone(`there is no container "${name}"`);
        case 'found':
          return judge(`container "${name}"`, inspection.state, known);
        default:
          throw new Error(`no such inspection: ${JSON.stringify(inspection satisfies never)}`);
      }
    },
  };
}

function judge(who: string, state: ContainerState, known: Found | null): Sight {
  // The Engine calls it running, too, while it is paused and while it waits to be restarted by its own policy.
  if (state.running && state.paused) return gone(`${who} is paused`);
  if (state.running && !state.restarting) {
    const found = { pid: state.pid, identity: `${state.id} since ${state.startedAt}` };
    if (known === null || known.identity === found.identity) return there(found);
    return gone(`${who} was started anew by somebody else, so nobody saw its exit code`);
  }
  return { kind: 'gone', cause: causeOf(who, state) };
}

const UNTOLD: ReadonlySet<number> = new Set([130, 141]);
/** Reversed, so that of two names for one number the first, usual one stays: SIGABRT, not SIGIOT. */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name as SignalName]),
);

/**
 * The Engine writes a death by signal N as code 128 + N. A program that chooses such a code itself looks the same; for SIGINT
 * and SIGPIPE, where programs do that, both are left open. Out of memory is what the Engine says, never what a code suggests.
 */
function causeOf(who: string, { status, exitCode, oomKilled, error }: ContainerState): ExitCause {
  if (error !== '') return { kind: 'unknown', why: `${who} could not be started: ${error}` };
  if (status === 'created') return { kind: 'unknown', why: `${who} was never started` };
  const signal = UNTOLD.has(exitCode) ? undefined : SIGNALS.get(exitCode - 128);
  if (signal === undefined) return { kind: 'code', code: exitCode, ambiguous: UNTOLD.has(exitCode) };
  return { kind: 'signal', signal, core: false, oom: oomKilled && signal === 'SIGKILL' };
}
