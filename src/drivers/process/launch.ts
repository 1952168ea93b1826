/** Begins one run: directory, FIFO, shim. Either all of it happened, or nothing of it can still come to life. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { Clock } from '../../base/clock.ts';
import type { ProcessLaunch } from '../../supervision/ports/driver.ts';
import type { Failpoints } from '../../base/failpoints.ts';
import { type Account, accountOf } from './account/account.ts';
import { BARE_ENVIRONMENT, becoming, ENVIRONMENT_FD, openEnvironment } from './account/become.ts';
import { eyesOf, OWN_EYES } from './account/eyes.ts';
import { oddVariables } from './command/odd-variables.ts';
import { problemOfError } from './command/spawn-problem.ts';
import { type BindWorld, type Bound, bind, unbind } from './limits/bind.ts';
import { boundsProblem, type ShimBounds } from './limits/bounds.ts';
import { logProblem } from './log-file.ts';
import { precheck } from './precheck.ts';
import { makeRunDir, type RunMeta } from './run-dir.ts';
import { openFifo } from './shim/fifo.ts';
import type { FifoPool } from './shim/fifo-pool.ts';
import type { Tools } from './shim/tools.ts';
import { tooFewFds } from './spare-fds.ts';

export interface LaunchWorld extends BindWorld {
  readonly runsDir: string;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly tools: Tools;
  readonly fifos: FifoPool;
  /** The shim's program; null: for a run without bounds. */
  shim(bounds: ShimBounds | null): string;
  readonly softNofile: number | null;
}

export interface Begun {
  readonly meta: RunMeta;
  readonly fifoFd: number;
  readonly shim: ChildProcess;
}

export function beginRun(launch: ProcessLaunch, world: LaunchWorld): Begun | SpawnProblem {
  const account = accountOf(launch, world.tools);
  if (account !== null && 'heals' in account) return account;
  const eyes = account === null ? OWN_EYES : eyesOf(account, world.tools);
  const problem = precheck(launch, eyes) ?? boundsProblem(launch) ?? logProblem(launch.logPath, account);
  if (problem) return problem;
  let fifoFd = -1;
  let bound: Bound | null = null;
  try {
    const crowded = tooFewFds();
    if (crowded) return crowded;
    world.failpoints.hit('spawn.before-dir');
    const binding = bind(launch, account, world);
    if ('heals' in binding) return binding;
    bound = binding;
    const meta = newMeta(launch, bound, account, world.clock);
    const shim = world.shim(bound.shim);
    const dir = makeRunDir(world.runsDir, { meta, shim, putFifo: (path) => world.fifos.take(path) });
    world.failpoints.hit('spawn.after-dir');
    // Before the shim: a FIFO opened after its writer died would never tell.
    fifoFd = openFifo(join(dir, 'fifo'));
    world.failpoints.hit('spawn.before-shim');
    return { meta, fifoFd, shim: spawnShim(launch, meta, account, world) };
  } catch (error) {
    if (fifoFd >= 0) closeSync(fifoFd);
    if (bound !== null) unbind(bound);
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

function spawnShim(launch: ProcessLaunch, meta: RunMeta, account: Account | null, world: LaunchWorld): ChildProcess {
  const { tools, runsDir, softNofile } = world;
  const { command, cwd, env } = launch;
  const dir = join(runsDir, launch.run);
  const own = [dir, launch.logPath, String(softNofile ?? '-'), meta.cgroup ?? '-', launch.run, '--'];
  const start = (way: readonly string[], seen: ProcessLaunch['env'], fd?: number): ChildProcess => {
    const argv = [join(dir, 'shim.sh'), ...own, ...way, tools.setsid, ...command];
    // What follows the standard three is number 3.
    const stdio = Array<'ignore' | number>(ENVIRONMENT_FD)
      .fill('ignore')
      .concat(fd ?? []);
    const child = spawn(tools.sh, argv, { cwd, env: seen, detached: true, stdio });
    child.unref();
    return child;
  };
  if (account === null) return start(oddVariables(env, tools), env);
  const fd = openEnvironment(env, account, runsDir, tools);
  try {
    return start(becoming(account, tools), BARE_ENVIRONMENT, fd);
  } finally {
    closeSync(fd);
  }
}
