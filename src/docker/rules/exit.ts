/** How a container ended, from what the Engine says about it. */
import type { ExitCause, SignalName, SpawnProblem } from '../../base/pure/exit.ts';
import { blame } from './fault.ts';

/** The part of an inspection that tells. */
export interface EndedState {
  readonly status: string;
  readonly exitCode: number;
  readonly oomKilled: boolean;
  readonly error: string;
}

/** Containers are Linux, whatever we run on. */
const SIGNALS =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  );
const SIGNAL_BASE = 128;
/** SIGINT and SIGPIPE, where programs choose such a code themselves. */
const UNTOLD: ReadonlySet<number> = new Set([130, 141]);

/** The Engine's codes for a program that it could not run. */
const START_PROBLEMS: ReadonlyMap<number, SpawnProblem['code']> = new Map([
  [126, 'command-permission'],
  [127, 'command-not-found'],
]);

/**
 * The Engine writes a death by signal N as code 128 + N. A program that chooses such a code itself looks the same; for SIGINT
 * and SIGPIPE, where programs do that, both are left open. Out of memory is what the Engine says, never what a code suggests.
 */
export function exitOf(who: string, state: EndedState): ExitCause {
  const { status, exitCode, oomKilled, error } = state;
  if (error !== '') return { kind: 'spawn-failed', problem: startProblem(who, exitCode, error) };
  if (status === 'created') return { kind: 'unknown', why: `${who} was never started` };
  return causeOfCode(exitCode, oomKilled);
}

/** Of a `die` event, where nothing else is left: an event does not tell of a want of memory. */
export function causeOfCode(exitCode: number, oomKilled = false): ExitCause {
  const name = UNTOLD.has(exitCode) ? undefined : SIGNALS[exitCode - SIGNAL_BASE - 1];
  if (name === undefined) return { kind: 'code', code: exitCode, ambiguous: UNTOLD.has(exitCode) };
  const signal: SignalName = `SIG${name}`;
  return { kind: 'signal', signal, core: false, oom: oomKilled && signal === 'SIGKILL' };
}

function startProblem(who: string, exitCode: number, error: string): SpawnProblem {
  const isEngine = blame(error) === 'engine';
  return {
    code: isEngine ? 'engine' : (START_PROBLEMS.get(exitCode) ?? 'refused'),
    message: `${who} could not be started: ${error}`,
    heals: isEngine,
  };
}
