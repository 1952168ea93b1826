/**
 * Runs short commands, such as those of exec probes: each in a session of its own, in a cgroup where there is one to be had,
 * for a limited time, and with nothing left of it afterwards.
 */
import type { ChildProcess } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import type { Command, CommandResult, CommandRunner } from '../../base/command.ts';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { RunId } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { accessOf, OWN_ACCESS } from './account/access.ts';
import { accountOf } from './account/account.ts';
import { passing } from './command/spawn-problem.ts';
import { precheck } from './precheck.ts';
import { findTools } from './shim/tools.ts';
import { CommandCgroups } from './short-command/cgroups.ts';
import { Cookies } from './short-command/cookies.ts';
import { OutputPipes } from './short-command/output-pipes.ts';
import { explain, Limit, notStarted, ShortCommand, type ShortWorld } from './short-command/short-command.ts';
import { Strays } from './short-command/strays.ts';
import { StartQueue } from './start-queue.ts';
import { findHomeCgroup } from './tree/cgroup.ts';
import { ProcScan } from './tree/proc-scan.ts';

export interface CommandRunnerOptions extends Pick<Runtime, 'clock' | 'log'> {
  /** The state directory: pipes are made in it, and cgroups under its cgroup. It must be there. */
  readonly home: string;
  /** 'off': never use cgroups, also where they would work. */
  readonly cgroup: 'auto' | 'off';
  /** The soft limit for open files that commands get; null leaves it as it is. */
  readonly softNofile: number | null;
}

export interface ClosableCommandRunner extends CommandRunner {
  /** 'cgroup-v2' or 'process-group + cookie'. */
  readonly treeMechanism: string;
  /** Ends what is running, and waits until it is gone. */
  close(): Promise<void>;
}

/** So many may hang in the kernel, killed and still there, before no more are begun: one a period would fill the machine. */
const MAX_UNDEAD = 20;

export function createCommandRunner(options: CommandRunnerOptions): ClosableCommandRunner {
  return new ShortCommands(options);
}

class ShortCommands implements ClosableCommandRunner {
  readonly treeMechanism: string;
  readonly #world: ShortWorld;
  readonly #cookies: Cookies;
  readonly #starts = new StartQueue();
  readonly #running = new Set<Promise<CommandResult>>();
  readonly #end = new AbortController();

  constructor({ home, cgroup, log, softNofile, clock }: CommandRunnerOptions) {
    const tools = findTools();
    const cookies = new Cookies(home);
    const scan = new ProcScan();
    const cgroups = new CommandCgroups(cgroup === 'off' ? null : findHomeCgroup(home, tools.sh), cookies);
    const strays = new Strays({ scan, cookies, log });
    this.treeMechanism = cgroups.areUsable ? 'cgroup-v2' : 'process-group + cookie';
    this.#cookies = cookies;
    const never = new AbortController().signal; // what was killed is waited for also while closing
    setMaxListeners(0, this.#end.signal, never); // one for each command
    this.#world = {
      home,
      tools,
      softNofile,
      clock,
      log,
      scan,
      cgroups,
      strays,
      pipes: new OutputPipes(home, tools.mkfifo),
      undead: new Set<ChildProcess>(),
      signal: never,
    };
    if (!cgroups.areUsable) void strays.sweep(0); // what daemons that were killed left running
  }

  async run(command: Command): Promise<CommandResult> {
    const result = this.#run(command);
    this.#running.add(result);
    try {
      return await result;
    } finally {
      this.#running.delete(result);
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#running);
    await this.#world.strays.close();
    await this.#world.cgroups.close();
    this.#world.pipes.close();
  }

  async #run(command: Command): Promise<CommandResult> {
    using limit = new Limit(command.timeoutMs, [command.signal, this.#end.signal]);
    const cookie = this.#cookies.next();
    try {
      const { tools } = this.#world;
      const account = accountOf(command, tools);
      if (account !== null && 'heals' in account) return notStarted(account);
      const access = account === null ? OWN_ACCESS : accessOf(account, tools);
      const problem = (await this.#wait(cookie, limit, command)) ?? precheck(command, access);
      if (problem) return notStarted(problem);
      return await new ShortCommand({ command, account }, cookie, this.#world).result(limit);
    } catch (error) {
      return notStarted(explain(error, command));
    } finally {
      this.#cookies.retire(cookie);
    }
  }

  /** A start takes a millisecond or two of ours, so there is one per turn of the event loop. */
  async #wait(cookie: string, limit: Limit, { signal }: Command): Promise<SpawnProblem | null> {
    const { undead } = this.#world;
    if (undead.size >= MAX_UNDEAD) {
      return passing(
        'out-of-resources',
        `${undead.size} commands that were killed are still there, so no more is begun`,
      );
    }
    const turn = new Promise<void>((resolve) => this.#starts.push(cookie as RunId, resolve));
    await Promise.race([turn, limit.reached]);
    if (!limit.isReached) return null;
    this.#starts.cancel(cookie as RunId);
    if (signal.aborted || this.#end.signal.aborted) return passing('cancelled', 'it was called off before it began');
    return passing('out-of-resources', 'too many commands wait to be started');
  }
}
