/** Begins one run: directory, FIFO, shim. Either all of it happened, or nothing of it can still come to life. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SpawnProblem } from '../../core/exit.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessLaunch } from '../../ports/driver.ts';
import type { Failpoints } from '../../ports/failpoints.ts';
import { oddVariables } from './command/odd-variables.ts';
import { passing, permanent, problemOfError } from './command/spawn-problem.ts';
import { precheck } from './precheck.ts';
import { makeRunDir, type RunMeta } from './run-dir.ts';
import { openFifo } from './shim/fifo.ts';
import type { FifoPool } from './shim/fifo-pool.ts';
import type { Tools } from './shim/tools.ts';
import { makeRunCgroup, removeCgroup } from './tree/cgroup.ts';

export interface LaunchWorld {
  readonly runsDir: string;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly tools: Tools;
  readonly fifos: FifoPool;
  readonly shim: string;
  readonly softNofile: number | null;
  readonly homeCgroup: string | null;
}

export interface Begun {
  readonly meta: RunMeta;
  readonly fifoFd: number;
  readonly shim: ChildProcess;
}

export function beginRun(launch: ProcessLaunch, world: LaunchWorld): Begun | SpawnProblem {
  const problem = precheck(launch) ?? logProblem(launch.logPath);
  if (problem) return problem;
  let fifoFd = -1;
  let cgroup: string | null = null;
  try {
    world.failpoints.hit('spawn.before-dir');
    cgroup = world.homeCgroup === null ? null : makeRunCgroup(world.homeCgroup, launch.run);
    const meta = newMeta(launch, cgroup, world.clock);
    const dir = makeRunDir(world.runsDir, { meta, shim: world.shim, putFifo: (path) => world.fifos.take(path) });
    world.failpoints.hit('spawn.after-dir');
    // Before the shim: a FIFO opened after its writer died would never tell.
    fifoFd = openFifo(join(dir, 'fifo'));
    world.failpoints.hit('spawn.before-shim');
    return { meta, fifoFd, shim: spawnShim(launch, meta, world) };
  } catch (error) {
    if (fifoFd >= 0) closeSync(fifoFd);
    if (cgroup !== null) removeCgroup(cgroup);
    return explain(error, launch);
  }
}

/** ENOENT from spawn may mean the working directory; something may have changed since it was checked. */
export const explain = (error: unknown, launch: ProcessLaunch): SpawnProblem =>
  precheck(launch) ?? problemOfError(error);

function newMeta(launch: ProcessLaunch, cgroup: string | null, clock: Clock): RunMeta {
  return {
    v: 1,
    run: launch.run,
    component: launch.component,
    boot_id: clock.bootId,
    spec_hash: launch.specHash,
    cgroup,
    created_at: new Date(clock.wallNow()).toISOString(),
    log: launch.logPath,
    program: launch.command[0] ?? '',
  };
}

function spawnShim(launch: ProcessLaunch, meta: RunMeta, world: LaunchWorld): ChildProcess {
  const { tools, runsDir, softNofile } = world;
  const dir = join(runsDir, launch.run);
  const own = [dir, launch.logPath, String(softNofile ?? '-'), meta.cgroup ?? '-', launch.run, '--'];
  const argv = [join(dir, 'shim.sh'), ...own, ...oddVariables(launch.env, tools), tools.setsid, ...launch.command];
  const child = spawn(tools.sh, argv, { cwd: launch.cwd, env: launch.env, detached: true, stdio: 'ignore' });
  child.unref();
  return child;
}

/** Tried by opening it the way the shim will; not blocking, because a FIFO nobody reads would hold up the shim for ever. */
function logProblem(path: string): SpawnProblem | null {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600));
    return null;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const resources = problemOfError(error);
    if (resources.code === 'out-of-resources') return passing('out-of-resources', `${resources.message}: ${path}`);
    const why = code === 'EISDIR' ? 'is a directory' : `cannot be written (${code})`;
    return permanent('log-file', `the log file ${path} ${why}`);
  }
}
