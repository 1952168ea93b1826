/** How a container ended, from what the Engine says about it. */

import type { ExitCause, SignalName, SpawnProblem } from '../../base/pure/exit.ts';

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

// Whose fault it is that the Engine did not do what it was asked: told by its words, for its status codes do not tell.

/**
 * The Engine's own parts, which an error may name together with words that also belong to the container ("no such file"): these
 * are looked for first.
 */
const ENGINE_PARTS = anyOf(
  'no space left|disk quota exceeded|too many open files|cannot allocate memory',
  'containerd\\S*\\.sock|dial unix|failed to start shim|shim (died|exited|disconnected)|transport is closing|ttrpc',
  'runc"?: executable file not found|fork/exec',
  'cgroup|overlay|devmapper|storage driver|layer does not exist|snapshot .* does not exist',
  'could not find (bridge|an available)|network sandbox|iptables|failed to create endpoint',
  'context (deadline exceeded|canceled)|i/o timeout|tls handshake timeout|toomanyrequests',
  'no such host|network is unreachable|connection (refused|reset)',
);

/** Said in the same breath as what the Engine does about ports, but another has the port. */
const PORT_TAKEN = /port is already allocated|address already in use/i;

/** What was asked for cannot be had, whoever tries again. */
const OWN_FAULT = anyOf(
  'unable to start container process|starting container process caused|exec format error',
  'executable file not found|no such file or directory|permission denied|is a directory|not a directory',
  'network .+ not found|no such container|\\binvalid\\b|bind source path does not exist|memory limit too low',
  'unable to find (user|group)|no matching entries in (passwd|group)|could not select device driver',
  'pull access denied|manifest .*unknown|unauthorized|denied: requested access',
);

function anyOf(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i');
}

/** What stands in quotes comes from the configuration: a program may be called "overlay". */
const unquoted = (message: string): string => message.replace(/"(?!runc")[^"\s]*"/g, '');

type Blame = 'container' | 'engine' | 'untold';

export function blame(message: string): Blame {
  if (PORT_TAKEN.test(message)) return 'container';
  if (ENGINE_PARTS.test(unquoted(message))) return 'engine';
  return OWN_FAULT.test(message) ? 'container' : 'untold';
}

// Whether a container ended because its Engine did, where nobody of ours was there to see it. The Engine does not tell when it was
// started, but it makes its default bridge anew each time. Both times are of its own clock.

interface DatedNetwork {
  readonly name: string;
  /** Epoch milliseconds; null: not told. */
  readonly createdAt: number | null;
}

const DEFAULT_BRIDGE = 'bridge';
/** From the end of its containers to its next start: it waits for those that are slow to end, and may be upgraded in between. */
const AWAY_AT_MOST_MS = 60_000;

/** With an Engine that was away for longer it cannot be told: then it ended by itself, as far as is known. */
export function endedWithEngine(
  { finishedAt, oomKilled, error }: Pick<EndedState, 'oomKilled' | 'error'> & { readonly finishedAt: string | null },
  networks: readonly DatedNetwork[],
): boolean {
  const begunAt = networks.find(({ name }) => name === DEFAULT_BRIDGE)?.createdAt ?? null;
  if (begunAt === null || finishedAt === null || oomKilled || error !== '') return false;
  // What survived an Engine that was killed is ended by the next one, before it makes its bridge.
  const agoMs = begunAt - Date.parse(finishedAt);
  return agoMs >= 0 && agoMs <= AWAY_AT_MOST_MS;
}
