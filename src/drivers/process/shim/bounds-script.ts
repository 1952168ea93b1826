/** The lines of a shim that bind its run. Only numbers and paths of ours get into them. */
import type { ShimBounds } from '../limits/bounds.ts';
import type { Tools } from './tools.ts';

/** The exit code of a shim's child that could not bind itself; why is told in `err`. */
export const UNBOUND_CODE = 124;

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
