/** The bonds of one run: its cgroups, made with their limits, and what its shim has to do. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { RunId } from '../../../base/pure/ids.ts';
import { isMissing } from '../../../base/regular-file.ts';
import type { ProcessLaunch } from '../../../supervision/ports/driver.ts';
import type { LimitView } from '../../../supervision/rules/views.ts';
import type { Account } from '../account/account.ts';
import { passing, problemOfError } from '../command/spawn-problem.ts';
import { type Controller, makeRunCgroup, removeCgroup, removeEmpty } from '../tree/cgroup.ts';
import { limitsOf, limitViews, type ShimBounds, shimBounds } from './bounds.ts';
import { handDown, LIMIT_FILES, type LimitHomes, NO_HOMES } from './homes.ts';

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

// The cgroups of one run that has limits: made with their limits before it begins, removed with it.

export interface LimitCgroups {
  /** With v2 the cgroup of the tree has the limits, too; null: they are elsewhere. */
  readonly tree: string | null;
  /** One for each controller with v1. */
  readonly others: readonly string[];
}

/** Throws when one cannot be made; then nothing is left of the others. */
export function makeLimitCgroups(run: RunId, views: readonly LimitView[], homes: LimitHomes): LimitCgroups {
  const made: { tree: string | null; others: string[] } = { tree: null, others: [] };
  try {
    for (const { name, max, mechanism } of views) {
      if (name !== 'memory' && name !== 'pids') continue;
      if (mechanism === 'cgroup-v2' && homes.v2) {
        made.tree ??= makeV2(join(homes.v2.path, run), homes.v2.controllers);
        writeFileSync(join(made.tree, LIMIT_FILES.v2[name]), String(max));
        if (name === 'memory') afterMemoryV2(made.tree);
      }
      const home = mechanism === 'cgroup-v1' ? homes.v1[name] : null;
      if (home === null) continue;
      const path = join(home, run);
      mkdirSync(path, { recursive: true });
      if (!made.others.includes(path)) made.others.push(path); // both controllers may be in one hierarchy
      writeFileSync(join(path, LIMIT_FILES.v1[name]), String(max));
      if (name === 'memory') afterMemoryV1(path, max);
    }
    return made;
  } catch (error) {
    for (const path of cgroupsOf(made)) removeLimitCgroup(path);
    throw error;
  }
}

const cgroupsOf = ({ tree, others }: LimitCgroups): readonly string[] => [...(tree === null ? [] : [tree]), ...others];

function makeV2(path: string, controllers: readonly Controller[]): string {
  mkdirSync(dirname(path), { recursive: true });
  handDown(dirname(path), controllers);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Swap would only make it slow before it ends; and half a component that lives on is worse than one that is restarted. */
function afterMemoryV2(path: string): void {
  writeIfThere(join(path, 'memory.swap.max'), '0');
  writeIfThere(join(path, 'memory.oom.group'), '1');
}

/** Memory and swap together; the file is missing where swap is not accounted for. */
function afterMemoryV1(path: string, max: number): void {
  if (!writeIfThere(join(path, 'memory.memsw.limit_in_bytes'), String(max)))
    writeIfThere(join(path, 'memory.swappiness'), '0');
}

function writeIfThere(path: string, text: string): boolean {
  if (isMissing(path)) return false;
  writeFileSync(path, text);
  return true;
}

/** With its home when it was the last one there. */
export function removeLimitCgroup(path: string): void {
  if (removeCgroup(path)) removeEmpty(dirname(path));
}
