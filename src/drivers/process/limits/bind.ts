/** The bonds of one run: its cgroups, made with their limits, and what its shim has to do. */
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { LimitView } from '../../../supervision/rules/views.ts';
import type { ProcessLaunch } from '../../../supervision/ports/driver.ts';
import type { Account } from '../account/account.ts';
import { passing, problemOfError } from '../command/spawn-problem.ts';
import { makeRunCgroup } from '../tree/cgroup.ts';
import { limitsOf, limitViews, type ShimBounds, shimBounds } from './bounds.ts';
import { type LimitCgroups, makeLimitCgroups, removeLimitCgroup } from './cgroups.ts';
import { type LimitHomes, NO_HOMES } from './homes.ts';

export interface Bound {
  /** Of the tree; null: the tree is held together by its process group and its cookie. */
  readonly cgroup: string | null;
  readonly limitCgroups: readonly string[];
  readonly views: readonly LimitView[];
  readonly shim: ShimBounds | null;
}

export interface BindWorld {
  /** Where cgroups of trees are made; null: nowhere. */
  readonly homeCgroup: string | null;
  /** Where cgroups with limits can be made. */
  limitHomes(): LimitHomes;
}

export function bind(launch: ProcessLaunch, account: Account | null, world: BindWorld): Bound | SpawnProblem {
  const limits = limitsOf(launch);
  const homes = limits.memoryBytes === null && limits.pids === null ? NO_HOMES : world.limitHomes();
  const views = limitViews(limits, homes, account);
  let made: LimitCgroups;
  try {
    made = makeLimitCgroups(launch.run, views, homes);
  } catch (error) {
    return notMade(error);
  }
  const { tree, others } = made;
  const cgroup = tree ?? (world.homeCgroup === null ? null : makeRunCgroup(world.homeCgroup, launch.run));
  return { cgroup, limitCgroups: others, views, shim: shimBounds(launch, views, others) };
}

/** Nothing of the run has come to life. */
export function unbind({ cgroup, limitCgroups }: Bound): void {
  for (const path of [...(cgroup === null ? [] : [cgroup]), ...limitCgroups]) removeLimitCgroup(path);
}

/** Never without its limits: it is tried again. */
function notMade(error: unknown): SpawnProblem {
  const { code, message } = problemOfError(error);
  return passing(
    code === 'out-of-resources' ? code : 'limits',
    `the cgroup for its limits could not be made: ${message}`,
  );
}
