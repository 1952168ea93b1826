/**
 * The shell program between the daemon and a command. It outlives the daemon, so it is the one who sees the exit status; it
 * is copied into every run directory, so that a run keeps the code it was begun with when Keepwell is upgraded.
 * Works with dash, bash and busybox sh.
 */
import type { ShimBounds } from '../limits/bounds.ts';
import type { Delays } from './delays.ts';
import type { Tools } from './tools.ts';

/** Changes when the files, lines or arguments of the protocol change in a way an older daemon would not understand. */
export const SHIM_VERSION = 1;

/**
 * The script. Why it is written the way it is:
 * - The command runs in the foreground. A background command of a POSIX shell ignores SIGINT and SIGQUIT for ever.
 * - `trap :` and not `trap ''`: an ignored signal would stay ignored in the command.
 * - Private values are positional parameters, or variables that are unset before the command: an assignment to a name that
 *   the component's own environment holds would change what the component sees.
 * - The files `err`, `pid` and `exit.tmp` were filled with spaces in advance and are opened `<>`, without truncation, so
 *   that nothing here needs a new disk block: a death on a full disk is recorded like any other.
 * - Standard error is a file because the shell's own words ("Terminated", "Killed") are all that tells a death by signal
 *   from an exit code above 128. Nothing else may write there, hence the early redirection to the log in `inner`.
 * - What it said is read through the descriptor: the command may have put a pipe in place of the file.
 * - `inner` is a function because bash quotes the text of the subshell in that message.
 * - `"$@"` begins with the setsid program. The subshell is no group leader, so setsid does not fork and the pid stays.
 *   A run with an account of its own begins with setpriv; the log is open and all cgroups are joined by then.
 */
export function shimScript(tools: Tools, delays: Delays, bounds: ShimBounds | null = null): string {
  const pause = (point: keyof Delays): string => (delays[point] === 0 ? '' : `${tools.sleep} ${delays[point]} 9>&-`);
  const { first, joining, last } = boundsScript(bounds, tools);
  const skip = (count: number): string => Array(count).fill('KEEPWELL_SHIM_').join(' ');
  return String.raw`# keepwell shim ${SHIM_VERSION}
# arguments: run-directory log soft-nofile cgroup run-id -- command…
exec 2<>"$1/err"
exec 9<>"$1/fifo"
trap : TERM INT HUP QUIT PIPE ALRM USR1 USR2
${pause('claim')}
${tools.ln} -s "shim:$$" "$1/claim" || exit 111
${pause('started')}
inner() {
  exec >>"$2" 2>&1 </dev/null || exit 125
  [ "$3" = - ] || ulimit -S -n "$3" 2>/dev/null
  ulimit -S -c 0 2>/dev/null
  read -r KEEPWELL_SHIM_PID ${skip(20)} KEEPWELL_SHIM_START KEEPWELL_SHIM_ </proc/self/stat
  ${first}
  KEEPWELL_SHIM_TREE=-
  [ "$4" = - ] || { printf 0 >"$4/cgroup.procs" && KEEPWELL_SHIM_TREE=cgroup; } 2>/dev/null
  ${joining}
  printf '%s %s %s\n' "$KEEPWELL_SHIM_PID" "$KEEPWELL_SHIM_START" "$KEEPWELL_SHIM_TREE" 1<>"$1/pid"
  printf 'started %s %s %s\n' "$KEEPWELL_SHIM_PID" "$KEEPWELL_SHIM_START" "$KEEPWELL_SHIM_TREE" >&9
  unset KEEPWELL_SHIM_ KEEPWELL_SHIM_PID KEEPWELL_SHIM_START KEEPWELL_SHIM_TREE
  KEEPWELL_RUN=$5
  export KEEPWELL_RUN
  ${last}
  shift 6
  exec "$@" 9>&-
}
( inner "$@" )
set -- "$1" "$?"
${pause('exit')}
read -r KEEPWELL_SHIM_ </proc/self/fd/2
printf 'exit %s %s\n' "$2" "$KEEPWELL_SHIM_" >&9
${pause('record')}
printf 'exit %s %s\n' "$2" "$KEEPWELL_SHIM_" 1<>"$1/exit.tmp"
${tools.mv} -f "$1/exit.tmp" "$1/exit"
`.replaceAll(/\n\s*\n/g, '\n');
}

// The lines of a shim that bind its run. Only numbers and paths of ours get into them.

/** The exit code of a shim's child that could not bind itself; why is told in `err`. */
export const UNBOUND_CODE = 124;
/** Of a fork of a native shim that could not become the command; the step and the reason are told in `err`. */
export const NOT_BEGUN_CODE = 126;

/** `first`: while the child may still start others. `joining`: after the cgroup of the tree. `last`: right before the command. */
export interface BoundsScript {
  readonly first: string;
  readonly joining: string;
  readonly last: string;
}

const UNBOUND: BoundsScript = { first: '', joining: '', last: '' };

export function boundsScript(bounds: ShimBounds | null, { renice }: Pick<Tools, 'renice'>): BoundsScript {
  if (bounds === null) return UNBOUND;
  const { joins, needsTree, nice, umask, nofile, dataKib, userProcesses } = bounds;
  const when = (value: unknown, line: string): readonly string[] => (value === null || value === false ? [] : [line]);
  return {
    // Without -n the number is the niceness itself, for every renice there is.
    first: when(nice, must(`${renice} ${nice} -p "$KEEPWELL_SHIM_PID" >/dev/null 9>&-`)).join(''),
    joining: [
      ...when(
        needsTree,
        must(`[ "$KEEPWELL_SHIM_TREE" = cgroup ] || { echo "its cgroup could not be joined" >&2; false; }`),
      ),
      ...joins.map((path) => must(`printf 0 >${quoted(`${path}/cgroup.procs`)}`)),
    ].join('\n'),
    last: [
      ...when(umask, `umask ${(umask ?? 0).toString(8).padStart(3, '0')}`),
      ...when(dataKib, must(`ulimit -d ${dataKib}`)),
      // The letter is p in dash, u in the others. What went well must leave no word: words make an exit code a death by signal.
      ...when(userProcesses, must(`ulimit -u ${userProcesses} 2>/dev/null || ulimit -p ${userProcesses}`)),
      // Last: below 11 the shell itself has trouble with its redirections.
      ...when(nofile, must(`ulimit -n ${nofile}`)),
    ].join('\n'),
  };
}

const must = (command: string): string => `{ ${command}; } 2<>"$1/err" || exit ${UNBOUND_CODE}`;

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
