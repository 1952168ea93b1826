/**
 * How shims come to life: forked by the native launcher; where that is away, started by the daemon; and where the native one cannot be
 * used at all, as a script of sh. All of them speak the same protocol, so nobody else needs to know which one it is.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Runtime } from '../../../base/runtime.ts';
import type { ProcessLaunch } from '../../../supervision/ports/driver.ts';
import type { ShimView } from '../../../supervision/rules/views.ts';
import type { Account } from '../account/account.ts';
import { BARE_ENVIRONMENT, becoming, ENVIRONMENT_FD, openEnvironment } from '../account/become.ts';
import { oddVariables } from '../command/spawn-problem.ts';
import type { ShimBounds } from '../limits/bounds.ts';
import { makeRunDir, metaText, type RunMeta } from '../run-dir.ts';
import type { Delays } from './delays.ts';
import { FifoPool } from './fifo-pool.ts';
import { Launcher } from './launcher.ts';
import type { Native } from './native.ts';
import { encodeRequest, type RequestAccount } from './request.ts';
import { shimScript } from './shim.ts';
import type { Tools } from './tools.ts';

export interface ShimsOptions extends Pick<Runtime, 'clock' | 'log'> {
  readonly native: Native;
  readonly runsDir: string;
  readonly tools: Tools;
  readonly delays: Delays;
  readonly softNofile: number | null;
}

/** A run that may begin: everything about it was checked. */
export interface PlannedRun {
  readonly launch: ProcessLaunch;
  readonly account: Account | null;
  /** Of the account, for the native shim; null: those of the daemon. */
  readonly groups: readonly number[] | null;
  readonly bounds: ShimBounds | null;
  readonly meta: RunMeta;
}

export class Shims {
  readonly #options: ShimsOptions;
  readonly #launcher: Launcher | null;
  #fifos: FifoPool | null = null;

  constructor(options: ShimsOptions) {
    const { native, runsDir, clock, log } = options;
    this.#options = options;
    this.#launcher = native.path === null ? null : new Launcher({ path: native.path, runsDir, clock, log });
    if (this.#launcher === null) this.#stock(); // for the first start to find some
  }

  /** What the next run gets. */
  get inForce(): ShimView {
    const why = this.#options.native.why ?? this.#launcher?.broken ?? null;
    return { kind: why === null ? 'native' : 'sh', why };
  }

  /** Or can have one. */
  get hasLauncher(): boolean {
    return this.#launcher?.broken === null;
  }

  /** Runs that the launcher was asked for and has not answered. */
  get owed(): number {
    return this.#launcher?.owed ?? 0;
  }

  wake(): void {
    this.#launcher?.wake();
  }

  /**
   * Directory and shim by the launcher. True: they are there. False: look what is, and do the rest. Null: there is no launcher, and
   * nothing has happened. Never rejects.
   */
  ask(run: PlannedRun): Promise<boolean> | null {
    return this.#launcher?.ask((number, staging) => this.#request(run, number, staging)) ?? null;
  }

  /** The directory by the daemon itself. Throws when it cannot be made. */
  makeDir({ meta, bounds }: PlannedRun): string {
    const { runsDir, tools, delays } = this.#options;
    const script = this.#usesNative ? null : shimScript(tools, delays, bounds);
    return makeRunDir(runsDir, { meta, script, putFifo: (path) => this.#stock().take(path) });
  }

  /** The shim as a child of the daemon, in a directory that is there. */
  spawn(run: PlannedRun): ChildProcess {
    const child = this.#usesNative ? this.#spawnNative(run) : this.#spawnScript(run);
    child.unref();
    return child;
  }

  async close(): Promise<void> {
    await this.#launcher?.close();
    await this.#fifos?.close();
  }

  /** Without a launcher only where the program has shown that it runs. */
  get #usesNative(): boolean {
    return this.#launcher?.hasWorked === true;
  }

  #stock(): FifoPool {
    const { runsDir, tools } = this.#options;
    this.#fifos ??= new FifoPool(join(runsDir, '.fifos'), tools.mkfifo);
    return this.#fifos;
  }

  #request({ launch, account, groups, bounds, meta }: PlannedRun, number: number, staging: string | null): Buffer {
    const { runsDir, tools, delays, softNofile } = this.#options;
    const { run, command, cwd, env, logPath } = launch;
    return encodeRequest({
      ...{ number, staging, runsDir, run, cwd, command, bounds, delays, softNofile },
      meta: metaText(meta),
      log: logPath,
      cgroup: meta.cgroup,
      shell: tools.sh,
      account: account && requestAccount(account, groups),
      // Shells keep PWD up to date, and programs have come to rely on that.
      env: { ...env, PWD: cwd, KEEPWELL_RUN: run },
    });
  }

  #spawnNative(run: PlannedRun): ChildProcess {
    const { native, runsDir } = this.#options;
    const args = ['shim', `${runsDir}/`, run.launch.run];
    const stdio: StdioOptions = ['ignore', 'ignore', 'ignore', 'pipe'];
    const child = spawn(native.path ?? '', args, { cwd: '/', env: {}, detached: true, stdio });
    const channel = child.stdio[3] as Writable | undefined; // missing when it could not be started: 'error' follows
    channel?.on('error', () => {}); // it is gone before it has read it: 'exit' follows
    channel?.end(this.#request(run, 0, null));
    return child;
  }

  #spawnScript({ launch, account, meta }: PlannedRun): ChildProcess {
    const { tools, runsDir, softNofile } = this.#options;
    const { command, cwd, env, run, logPath } = launch;
    const dir = join(runsDir, run);
    const own = [dir, logPath, String(softNofile ?? '-'), meta.cgroup ?? '-', run, '--'];
    const start = (way: readonly string[], seen: ProcessLaunch['env'], fd?: number): ChildProcess => {
      const argv = [join(dir, 'shim.sh'), ...own, ...way, tools.setsid, ...command];
      // What follows the standard three is number 3.
      const stdio = Array<'ignore' | number>(ENVIRONMENT_FD)
        .fill('ignore')
        .concat(fd ?? []);
      return spawn(tools.sh, argv, { cwd, env: seen, detached: true, stdio });
    };
    if (account === null) return start(oddVariables(env, tools), env);
    const fd = openEnvironment(env, account, runsDir, tools);
    try {
      return start(becoming(account, tools), BARE_ENVIRONMENT, fd);
    } finally {
      closeSync(fd);
    }
  }
}

const requestAccount = ({ uid, gid, keepsUser }: Account, groups: readonly number[] | null): RequestAccount => ({
  uid: keepsUser ? null : uid,
  gid,
  groups,
});
