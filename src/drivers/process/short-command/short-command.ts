/** One short command from its start to the end of everything it started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchownSync, fstatSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command, CommandResult } from '../../../base/command.ts';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { RunId } from '../../../base/pure/ids.ts';
import type { Account } from '../account/account.ts';
import { BARE_ENVIRONMENT, becoming, openEnvironment } from '../account/become.ts';
import { oddVariables, problemOfError } from '../command/spawn-problem.ts';
import { notBecome, notExecuted } from '../exit-cause.ts';
import { precheck } from '../precheck.ts';
import { type ProcStat, readProcStat } from '../proc.ts';
import type { Tools } from '../shim/tools.ts';
import { Tree, type TreeWorld } from '../tree/tree.ts';
import type { CommandCgroups } from './cgroups.ts';
import type { OutputPipe, OutputPipes } from './output-pipes.ts';
import type { Strays } from './strays.ts';

export interface ShortWorld extends TreeWorld {
  /** The state directory. */
  readonly home: string;
  readonly tools: Tools;
  readonly softNofile: number | null;
  readonly cgroups: CommandCgroups;
  readonly pipes: OutputPipes;
  readonly strays: Strays;
  /** Commands that were killed and are not gone. */
  readonly undead: Set<ChildProcess>;
}

/** Members of a killed group die one after the other; whoever still holds the output after this long is not one of them. */
const SETTLE_MS = 20;
/** How long a killed command is waited for: usually a millisecond, but one that hangs in the kernel may stay for ever. */
const GONE_MS = 250;

/** Never waits: a pipe there, which nobody reads, would hold up the daemon for ever. */
function openToAppend(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a regular file`);
}

export interface Order {
  readonly command: Command;
  /** Null: as the daemon itself. */
  readonly account: Account | null;
}

type Ending =
  | { readonly kind: 'exit'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly kind: 'error'; readonly error: Error };

export class ShortCommand {
  readonly #command: Command;
  readonly #account: Account | null;
  readonly #world: ShortWorld;
  readonly #cgroup: string | null;
  readonly #pipe: OutputPipe;
  readonly #child: ChildProcess;
  readonly #tree: Tree;
  readonly #ended: Promise<Ending>;

  /** Begins it, or throws. */
  constructor({ command, account }: Order, cookie: string, world: ShortWorld) {
    this.#command = command;
    this.#account = account;
    this.#world = world;
    this.#pipe = world.pipes.open();
    // What is meant to stay must not be found by us later: no cgroup, and no cookie in its environment.
    this.#cgroup = command.launchesInto === undefined ? world.cgroups.make(cookie) : null;
    try {
      this.#child = this.#spawn(cookie);
    } catch (error) {
      this.#letGo();
      throw error;
    }
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve({ kind: 'error', error }));
      this.#child.on('exit', (code, signal) => resolve({ kind: 'exit', code, signal }));
    });
    this.#pipe.begin();
    this.#tree = new Tree(cookie as RunId, this.#cgroup, world);
    const main = this.#child.pid === undefined ? null : identity(this.#child.pid);
    if (main) this.#tree.setMain(main, this.#cgroup !== null);
  }

  /** Its result; whatever it started has been ended by then. */
  async result(limit: Limit): Promise<CommandResult> {
    const ending = await Promise.race([this.#ended, limit.reached]);
    if (!ending) return { kind: 'timed-out', output: await this.#kill() };
    if (ending.kind === 'error') {
      this.#letGo();
      return notStarted(explain(ending.error, this.#command));
    }
    if (this.#command.launchesInto === undefined) await this.#clearAway();
    const output = this.#pipe.finish();
    const { code, signal } = ending;
    const program = this.#command.command[0] ?? '';
    const problem = handOverProblem({ code, output, program, account: this.#account?.label ?? null });
    if (problem) return notStarted(precheck(this.#command) ?? problem);
    return { kind: 'exited', code, signal, output };
  }

  #spawn(cookie: string): ChildProcess {
    const { input } = this.#command;
    if (input === undefined) return this.#begin(cookie, 'ignore');
    const fd = openInput(input, this.#account, this.#world.home);
    try {
      return this.#begin(cookie, fd);
    } finally {
      closeSync(fd);
    }
  }

  #begin(cookie: string, stdin: 'ignore' | number): ChildProcess {
    const { tools, softNofile } = this.#world;
    const { cwd, env, launchesInto } = this.#command;
    const account = this.#account;
    const argv = commandLine(this.#command, { tools, softNofile, cgroup: this.#cgroup, account });
    const begin = (writer: number, marked: Readonly<Record<string, string>>) => {
      const stdio: ('ignore' | number)[] = [stdin, writer, writer];
      if (account === null) return spawn(tools.sh, argv, { cwd, env: marked, detached: true, stdio });
      if (writer === this.#pipe.writer) this.#pipe.giveTo(account);
      const fd = openEnvironment(marked, account, this.#world.home, tools);
      try {
        const options = { cwd, env: BARE_ENVIRONMENT, detached: true, stdio: [...stdio, fd] };
        return spawn(tools.sh, argv, options);
      } finally {
        closeSync(fd);
      }
    };
    if (launchesInto === undefined) return begin(this.#pipe.writer, { ...env, KEEPWELL_RUN: cookie });
    const output = this.#openLog(launchesInto);
    try {
      return begin(output, env);
    } finally {
      closeSync(output);
    }
  }

  /** A recovery is not given up because nobody can read about it. */
  #openLog(path: string): number {
    try {
      return openToAppend(path);
    } catch (error) {
      this.#world.log.warn('the output of a command cannot be kept', { path, error: String(error) });
      return openSync('/dev/null', 'w');
    }
  }

  /** It has exited; it may have left others running. The output is not waited for: one of these may hold it open. */
  async #clearAway(): Promise<void> {
    const isHeldOpen = this.#pipe.drain();
    this.#killOldGroup();
    if (this.#cgroup !== null) return this.#world.cgroups.clear(this.#cgroup);
    this.#world.strays.expect();
    if (!isHeldOpen) return;
    await pause(SETTLE_MS);
    if (this.#pipe.drain()) await this.#killTree();
  }

  /** The time is up. Returns what it said until then. */
  async #kill(): Promise<string> {
    await this.#killTree();
    if (this.#cgroup !== null) this.#world.cgroups.clear(this.#cgroup);
    else this.#world.strays.expect();
    if (!(await this.#isGone())) this.#mourn();
    return this.#pipe.finish();
  }

  async #isGone(): Promise<boolean> {
    const end = new AbortController();
    try {
      return await Promise.race([this.#ended.then(() => true), pause(GONE_MS, false, { signal: end.signal })]);
    } finally {
      end.abort();
    }
  }

  async #killTree(): Promise<void> {
    try {
      await this.#tree.kill();
    } catch (error) {
      // No descriptor left to look at processes with. The group needs none; the rest is found by the next sweep.
      this.#world.log.warn('a command could not be ended as a tree', { error: String(error) });
    }
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) send(-pid); // not reaped, so the number is its own
  }

  /** The number of a dead leader is not given away while its group has members, so if it is in use it is not ours. */
  #killOldGroup(): void {
    const { pid } = this.#child;
    if (pid !== undefined && isUnused(pid)) send(-pid);
  }

  #mourn(): void {
    const { undead, log } = this.#world;
    undead.add(this.#child);
    this.#child.unref();
    this.#child.once('exit', () => undead.delete(this.#child));
    log.warn('a command was killed and is still there', { pid: this.#child.pid, command: this.#command.command[0] });
  }

  /** Nothing has come to life. */
  #letGo(): void {
    this.#pipe.finish();
    if (this.#cgroup !== null) this.#world.cgroups.clear(this.#cgroup);
  }
}

/** Null: it is gone, or cannot be looked at just now; its group and its mark find it all the same. */
function identity(pid: number): ProcStat | null {
  try {
    return readProcStat(pid);
  } catch {
    return null;
  }
}

/** False when that is not known just now: what is left is found by its mark later. */
function isUnused(pid: number): boolean {
  try {
    return readProcStat(pid) === null;
  } catch {
    return false;
  }
}

export const notStarted = (problem: SpawnProblem): CommandResult => ({ kind: 'not-started', problem });

/** Something may have changed since it was checked, and the kernel's own word for it may mean many things. */
export const explain = (error: unknown, command: Command): SpawnProblem => precheck(command) ?? problemOfError(error);

function send(pid: number): void {
  try {
    if (pid < -1) process.kill(pid, 'SIGKILL');
  } catch {
    // nobody is left
  }
}

// The few words of shell in front of a short command: they give it what a component gets, then are replaced by it.

/** What the shell calls itself when it complains, so that its words can be told from the command's. */
const NAME = 'keepwell';

/** Arguments: soft limit of open files, cgroup to join, then the command; a dash for none. */
const SCRIPT = `[ "$1" = - ] || ulimit -S -n "$1" 2>/dev/null
ulimit -S -c 0 2>/dev/null
[ "$2" = - ] || { printf 0 >"$2/cgroup.procs"; } 2>/dev/null
shift 2
exec "$@"`;

export interface Wrapping {
  readonly tools: Pick<Tools, 'sh' | 'env' | 'setpriv'>;
  readonly softNofile: number | null;
  readonly cgroup: string | null;
  /** Whose command it is; null: the daemon's own. */
  readonly account: Account | null;
}

export function commandLine({ command, env }: Pick<Command, 'command' | 'env'>, wrapping: Wrapping): readonly string[] {
  const { tools, softNofile, cgroup, account } = wrapping;
  const way = account === null ? oddVariables(env, tools) : becoming(account, tools);
  return ['-c', SCRIPT, NAME, String(softNofile ?? '-'), cgroup ?? '-', ...way, ...command];
}

export interface ShellEnd {
  readonly code: number | null;
  readonly output: string;
  readonly program: string;
  /** For sentences; null: it was not to become somebody else. */
  readonly account: string | null;
}

/** Why the shell could not hand over to the command, or null when this is the command's own end. */
export function handOverProblem({ code, output, program, account }: ShellEnd): SpawnProblem | null {
  const [line = ''] = output.split('\n');
  if (account !== null && code !== 0 && line.startsWith('setpriv: ')) return notBecome(line, account);
  return (code === 126 || code === 127) && line.startsWith(`${NAME}: `) ? notExecuted(line, program) : null;
}

// What a short command reads from its standard input: a file without a name, so that nobody waits for a command that does not read.

/** `dir`: where it has its name for a moment. Throws when there is no room. */
export function openInput(text: string, account: Account | null, dir: string): number {
  const path = join(dir, `.input-${randomBytes(8).toString('hex')}`);
  const fd = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path); // before there is anything in it
    const bytes = Buffer.from(text);
    // At a position: whoever reads it next begins at the beginning.
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
    if (account !== null) fchownSync(fd, account.uid, account.gid);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

// The one deadline of a command, from the moment it was asked for, and everything else that ends it early.

/** A longer Node timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Limit implements Disposable {
  /** Resolves when the time is up or one of the signals aborts. */
  readonly reached: Promise<void>;
  readonly #signals: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout;
  readonly #end: () => void;
  #isReached = false;

  constructor(timeoutMs: number, signals: readonly AbortSignal[]) {
    const { promise, resolve } = withResolver();
    this.reached = promise;
    this.#signals = signals;
    this.#end = () => {
      this.#isReached = true;
      resolve();
    };
    // An exit that waits to be seen comes first: after a stall of our own, timers run before anything else.
    this.#timer = setTimeout(() => setImmediate(this.#end), Math.min(timeoutMs, MAX_TIMER_MS));
    for (const signal of signals) signal.addEventListener('abort', this.#end, { once: true });
    if (signals.some(({ aborted }) => aborted)) this.#end();
  }

  get isReached(): boolean {
    return this.#isReached;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#end);
  }
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
