/** What one run is bounded by, and how: decided before it begins, told to its shim, kept in its directory. */
import { getPriority } from 'node:os';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { Confinement } from '../../../supervision/ports/driver.ts';
import type { LimitView } from '../../../supervision/rules/views.ts';
import type { Account } from '../account/account.ts';
import { permanent } from '../command/spawn-problem.ts';
import type { LimitHomes } from './homes.ts';
import { hardNofile, has, lowestNice, mostNofile } from './privileges.ts';

/** What the shim does to itself before it becomes the command; null: nothing. */
export interface ShimBounds {
  /** Directories of cgroups that must be joined, beside the one of the tree. */
  readonly joins: readonly string[];
  /** Without the cgroup of the tree the run may not begin: its limits are set there. */
  readonly needsTree: boolean;
  readonly nice: number | null;
  readonly umask: number | null;
  readonly nofile: number | null;
  /** Limits of each process, where there are no cgroups: of its data, and of the processes of its user. */
  readonly dataKib: number | null;
  readonly userProcesses: number | null;
}

type Limits = NonNullable<Confinement['limits']>;
type Mechanism = LimitView['mechanism'];

const NONE: Limits = { memoryBytes: null, pids: null, nofile: null };

export const limitsOf = ({ limits }: Confinement): Limits => limits ?? NONE;

/** What cannot be done however often it is tried. */
export function boundsProblem(confinement: Confinement): SpawnProblem | null {
  return nofileProblem(limitsOf(confinement).nofile) ?? niceProblem(confinement.nice);
}

function nofileProblem(nofile: number | null): SpawnProblem | null {
  if (nofile === null) return null;
  const most = mostNofile();
  if (nofile > most) {
    const raise = `raise it (sysctl fs.nr_open=${nofile}), or lower "nofile"`;
    return permanent('limits', `limits.nofile is ${nofile}, and this kernel allows ${most} (fs.nr_open): ${raise}`);
  }
  const hard = hardNofile();
  if (nofile <= hard || has('resources')) return null;
  const raise = 'raise that (LimitNOFILE= of a unit, /etc/security/limits.conf), start it as root, or lower "nofile"';
  return permanent('limits', `limits.nofile is ${nofile}, and the daemon itself has a hard limit of ${hard}: ${raise}`);
}

function niceProblem(nice: number | undefined): SpawnProblem | null {
  if (nice === undefined || nice >= getPriority() || has('niceness') || nice >= lowestNice()) return null;
  const message = `nice is ${nice}, and only root may go below the ${getPriority()} that the daemon has: start the daemon as root, or raise "nice"`;
  return permanent('limits', message);
}

/** What holds a run to each of its limits, given where cgroups can be made. */
export function limitViews(limits: Limits, homes: LimitHomes, account: Account | null): readonly LimitView[] {
  const { memoryBytes, pids, nofile } = limits;
  const views: LimitView[] = [];
  if (memoryBytes !== null) {
    const by = cgroupFor('memory', homes) ?? 'rlimit';
    views.push(view('memory', memoryBytes, by, by === 'rlimit' ? EACH : null));
  }
  if (pids !== null) {
    const hasOwnUser = account !== null && !account.keepsUser && account.uid !== 0;
    const by = cgroupFor('pids', homes) ?? (hasOwnUser ? 'rlimit' : null);
    views.push(
      view('pids', pids, by, by === 'rlimit' ? `all processes of ${account?.label} together` : by ? null : NO_WAY),
    );
  }
  if (nofile !== null) views.push(view('nofile', nofile, 'rlimit', null));
  return views;
}

const EACH = 'each process by itself, because no cgroup can be used here';
const NO_WAY = 'no cgroup can be used here, and it has no user of its own whose processes could be counted';

const view = (name: LimitView['name'], max: number, mechanism: Mechanism, note: string | null): LimitView => ({
  name,
  max,
  mechanism,
  note,
});

function cgroupFor(controller: 'memory' | 'pids', { v2, v1 }: LimitHomes): Mechanism {
  if (v2?.controllers.includes(controller)) return 'cgroup-v2';
  return v1[controller] === null ? null : 'cgroup-v1';
}

/** Null when there is nothing to do. */
export function shimBounds(
  { nice, umask }: Confinement,
  views: readonly LimitView[],
  joins: readonly string[],
): ShimBounds | null {
  const byRlimit = (name: LimitView['name']): number | null =>
    views.find((each) => each.name === name && each.mechanism === 'rlimit')?.max ?? null;
  const memory = byRlimit('memory');
  const bounds: ShimBounds = {
    joins,
    needsTree: views.some(({ mechanism }) => mechanism === 'cgroup-v2'),
    nice: nice ?? null,
    umask: umask ?? null,
    nofile: byRlimit('nofile'),
    dataKib: memory === null ? null : Math.ceil(memory / 1024),
    userProcesses: byRlimit('pids'),
  };
  const isNothing = joins.length === 0 && !bounds.needsTree && Object.values(bounds).every((value) => !isSet(value));
  return isNothing ? null : bounds;
}

const isSet = (value: unknown): boolean => typeof value === 'number';
