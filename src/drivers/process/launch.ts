/** Begins one run: directory, FIFO, shim. Either all of it happened, or nothing of it can still come to life. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, fchownSync, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ProcessLaunch } from '../../supervision/ports/driver.ts';
import { accessOf, OWN_ACCESS } from './account/access.ts';
import { type Account, accountOf, groupsOf } from './account/account.ts';
import { passing, permanent, problemOfError } from './command/spawn-problem.ts';
import { hasRoomForRun, ownLimit } from './descriptors.ts';
import { type BindWorld, type Bound, bind, unbind } from './limits/bind.ts';
import { boundsProblem } from './limits/bounds.ts';
import { precheck } from './precheck.ts';
import type { RunMeta } from './run-dir.ts';
import { openFifo } from './shim/fifo-pool.ts';
import type { PlannedRun, Shims } from './shim/shims.ts';
import type { Tools } from './shim/tools.ts';

export interface LaunchWorld extends Pick<Runtime, 'clock' | 'failpoints'>, BindWorld {
  readonly runsDir: string;
  readonly tools: Tools;
  readonly shims: Shims;
}

/** A run whose bonds are made, and which nothing stands in the way of as far as can be known. */
export interface Plan extends PlannedRun {
  readonly bound: Bound;
}

/** Everything before the run directory. Of what could not be planned nothing is left. */
export function planRun(launch: ProcessLaunch, world: LaunchWorld): Plan | SpawnProblem {
  const isNative = world.shims.inForce.kind === 'native';
  const account = accountOf(launch, isNative ? 'native' : world.tools);
  if (account !== null && 'heals' in account) return account;
  const access = account === null ? OWN_ACCESS : accessOf(account, world.tools);
  const problem = precheck(launch, access) ?? boundsProblem(launch) ?? logProblem(launch.logPath, account);
  if (problem) return problem;
  const groups = account === null || !isNative ? null : groupsOf(account);
  if (groups !== null && 'heals' in groups) return groups;
  try {
    if (!hasRoomForRun(world.shims.owed)) return tooFewDescriptors();
    world.failpoints.hit('spawn.before-dir');
    const bound = bind(launch, account, world);
    if ('heals' in bound) return bound;
    return { launch, account, groups, bounds: bound.shim, bound, meta: newMeta(launch, bound, account, world.clock) };
  } catch (error) {
    return explain(error, launch);
  }
}

const tooFewDescriptors = (): SpawnProblem =>
  passing(
    'out-of-resources',
    `the daemon may open ${ownLimit()} files, and nearly all are in use (raise its limit of open files)`,
  );

/** What was made for a run that does not begin. */
export const dropPlan = ({ bound }: Plan): void => unbind(bound);

/**
 * Directory and shim in one request to the launcher. Null: there is none. The promise never rejects: true says that both are there,
 * false that they may be, or a part of them. Throws when nothing was asked for.
 */
export function askLauncher(plan: Plan, { shims, failpoints }: LaunchWorld): Promise<boolean> | null {
  if (!shims.hasLauncher) return null;
  try {
    failpoints.hit('spawn.before-shim');
    return shims.ask(plan);
  } catch (error) {
    dropPlan(plan);
    throw error;
  }
}

export interface Begun {
  readonly fifoFd: number;
  readonly shim: ChildProcess;
}

/** The daemon does all of it itself. A directory that the launcher has made before is used; should a shim of it come late, one of the two has the claim. */
export function beginRun(plan: Plan, { shims, runsDir, failpoints }: LaunchWorld): Begun | SpawnProblem {
  const { launch } = plan;
  const dir = join(runsDir, launch.run);
  let fifoFd = -1;
  try {
    if (!existsSync(dir)) shims.makeDir(plan);
    failpoints.hit('spawn.after-dir');
    // Before the shim: a FIFO opened after its writer died would never tell.
    fifoFd = openFifo(join(dir, 'fifo'));
    failpoints.hit('spawn.before-shim');
    return { fifoFd, shim: shims.spawn(plan) };
  } catch (error) {
    if (fifoFd >= 0) closeSync(fifoFd);
    return explain(error, launch);
  }
}

/** ENOENT from spawn may mean the working directory; something may have changed since it was checked. */
export const explain = (error: unknown, launch: ProcessLaunch): SpawnProblem =>
  precheck(launch) ?? problemOfError(error);

function newMeta(launch: ProcessLaunch, bound: Bound, account: Account | null, clock: Clock): RunMeta {
  return {
    v: 1,
    run: launch.run,
    component: launch.component,
    boot_id: clock.bootId,
    spec_hash: launch.specHash,
    cgroup: bound.cgroup,
    created_at: new Date(clock.wallNow()).toISOString(),
    log: launch.logPath,
    program: launch.command[0] ?? '',
    ...(bound.views.length === 0 ? {} : { limits: bound.views }),
    ...(bound.limitCgroups.length === 0 ? {} : { limit_cgroups: bound.limitCgroups }),
    ...(account === null ? {} : { account: account.label }),
  };
}

// The log of a run, tried before the run: opened the way the shim will.

/** Not blocking, because a FIFO nobody reads would hold up the shim for ever. */
const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;

export function logProblem(path: string, account: Account | null): SpawnProblem | null {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const trap = account === null ? null : trapProblem(path);
    if (trap) return permanent('log-file', trap);
    const fd = openSync(path, FLAGS | (account === null ? 0 : constants.O_NOFOLLOW), 0o600);
    try {
      if (lstatSync(path).isFile()) giveAway(fd, account);
    } finally {
      closeSync(fd);
    }
    return null;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const resources = problemOfError(error);
    if (resources.code === 'out-of-resources') return passing('out-of-resources', `${resources.message}: ${path}`);
    const why = code === 'EISDIR' ? 'is a directory' : `cannot be written (${code})`;
    return permanent('log-file', `the log file ${path} ${why}`);
  }
}

/**
 * Root opens it for somebody else, who must not be able to put something of his own choice in its place: no link, and a
 * directory in which nobody else can make one between our look and the shim's.
 */
function trapProblem(path: string): string | null {
  const dir = dirname(path);
  const { uid, mode } = lstatSync(dir);
  const own = process.geteuid?.();
  if (uid !== own && uid !== 0) return `the log directory ${dir} belongs to uid ${uid}, not to the daemon: chown it`;
  if ((mode & 0o022) !== 0) return `the log directory ${dir} can be written by others: chmod go-w ${dir}`;
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file?.isSymbolicLink()) return `the log file ${path} is a symbolic link: remove it`;
  return null;
}

/** To the one who writes it: programs open /dev/stdout and /dev/stderr by name, and then the kernel asks again who they are. */
function giveAway(fd: number, account: Account | null): void {
  const { uid, gid } = fstatSync(fd);
  const owner = account?.uid ?? 0;
  if (process.geteuid?.() === 0 && uid !== owner) fchownSync(fd, owner, gid);
}
