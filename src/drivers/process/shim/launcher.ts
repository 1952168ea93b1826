/**
 * The native launcher: one small process beside the daemon that makes run directories and forks shims, because a fork of the daemon
 * itself takes many times as long. Nothing depends on it: what it does not do, or not in time, the daemon does itself, and a launcher
 * that is gone is replaced.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { machineFault } from '../../../base/pure/errno.ts';
import { after, type MonoMs } from '../../../base/pure/ids.ts';
import type { Runtime } from '../../../base/runtime.ts';
import { readProcStat } from '../proc.ts';
import { UNFINISHED } from '../run-dir.ts';

export interface LauncherOptions extends Pick<Runtime, 'clock' | 'log'> {
  /** The program. */
  readonly path: string;
  readonly runsDir: string;
}

/** Its request, given its number and the place where run directories are made. */
export type Request = (number: number, staging: string) => Buffer;

/** Room for the longest run id: a shim writes its own over it. */
const PLACE = '-'.repeat(80);
/** On which it listens and answers. */
const CHANNEL = 3;
/** One that is stopped is replaced after the first look, one that is only slow gets more time: the disk may hold it up. */
const LOOK_MS = 250;
const NO_ANSWER_AFTER_MS = 5_000;
const LEAVE_WITHIN_MS = 1_000;
/** As often in a row it may die before it has said a word; then this machine cannot run it. */
const MAX_FAILURES = 3;
const NEVER = new AbortController().signal;
/** Out of descriptors, it or the machine; a new one has some. */
const OUT_OF_FILES = [23, 24];
const ENOENT = 2;

interface Asked {
  readonly since: MonoMs;
  /** True: directory and shim are there. */
  readonly answer: (isDone: boolean) => void;
}

/** One process. Requests are answered in order; with its end all that are open are answered with no. */
class LauncherProcess {
  readonly asked = new Map<number, Asked>();
  readonly child: ChildProcess;
  readonly channel: Socket | null;
  /** It has said that it is there. */
  isReady = false;
  /** It has answered a request. */
  hasServed = false;
  /** When it last said something. */
  heardAt: MonoMs;

  constructor({ path, runsDir }: LauncherOptions, now: MonoMs) {
    const stdio = [...Array<'ignore'>(CHANNEL).fill('ignore'), 'pipe' as const];
    this.heardAt = now;
    this.child = spawn(path, ['launcher', `${runsDir}/`, PLACE], { cwd: '/', env: {}, detached: true, stdio });
    this.child.unref();
    // Missing when the process could not be made; 'error' follows then.
    this.channel = (this.child.stdio[CHANNEL] as Socket | undefined) ?? null;
    this.channel?.on('error', () => {}); // with the process gone, 'exit' follows
    this.channel?.unref();
  }

  get isThere(): boolean {
    const { pid, exitCode, signalCode } = this.child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  /** Since when it owes an answer; null: it owes none. */
  get owesSince(): MonoMs | null {
    const [oldest] = this.asked.values();
    return oldest === undefined ? null : (Math.max(oldest.since, this.heardAt) as MonoMs);
  }
}

export class Launcher {
  readonly #options: LauncherOptions;
  readonly #staging: string;
  readonly #leaving = new Set<Promise<unknown>>();
  #process: LauncherProcess | null = null;
  #count = 0;
  #owed = 0;
  #failures = 0;
  #hasWorked = false;
  #broken: string | null = null;
  #isWatching = false;
  #isClosed = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
    // The next daemon moves everything of that name away before it looks at runs: from then on a launcher that outlived its daemon
    // can make nothing any more.
    this.#staging = join(options.runsDir, `${UNFINISHED}${randomBytes(8).toString('hex')}`);
  }

  /** Why this machine cannot run it; null: it can, or that is not known yet. */
  get broken(): string | null {
    return this.#broken;
  }

  /** The program is known to run here. */
  get hasWorked(): boolean {
    return this.#hasWorked;
  }

  /** Requests without an answer: each may become a run, and a run takes a file descriptor of the daemon. */
  get owed(): number {
    return this.#owed;
  }

  /** So that the first request finds it there. */
  wake(): void {
    if (this.#process === null && this.#broken === null && !this.#isClosed) this.#start();
  }

  /**
   * True: directory and shim are there. False: it could not, or is gone; whatever it has done by then is to be seen in the run
   * directory, and it does no more. Null: there is no launcher now. Never rejects.
   */
  ask(request: Request): Promise<boolean> | null {
    this.wake();
    const process = this.#process;
    if (process === null || process.channel === null) return null;
    const number = ++this.#count;
    process.channel.write(request(number, this.#staging));
    const since = this.#options.clock.now();
    const answered = new Promise<boolean>((resolve) => {
      const answer = (isDone: boolean): void => {
        this.#owed -= 1;
        resolve(isDone);
      };
      process.asked.set(number, { since, answer });
    });
    this.#owed += 1;
    this.#watch();
    return answered;
  }

  /** What it was asked for is done, or never will be. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#process) this.#retire(this.#process);
    await Promise.all(this.#leaving);
    rmSync(this.#staging, { recursive: true, force: true });
  }

  #start(): void {
    const { log, clock } = this.#options;
    try {
      mkdirSync(this.#staging, { recursive: true, mode: 0o700 });
      const started = new LauncherProcess(this.#options, clock.now());
      this.#process = started;
      started.child.once('error', (error) => this.#notStarted(started, error));
      started.child.once('exit', (code, signal) => this.#gone(started, `ended with ${signal ?? `exit code ${code}`}`));
      let rest = '';
      started.channel?.setEncoding('utf8').on('data', (text: unknown) => {
        const lines = (rest + String(text)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.#line(started, line);
      });
    } catch (error) {
      log.warn('the native launcher could not be started', { error: String(error) });
    }
  }

  #line(process: LauncherProcess, line: string): void {
    const [word, number, step, errno] = line.split(' ');
    process.heardAt = this.#options.clock.now();
    if (word === 'ready') {
      process.isReady = true;
      this.#hasWorked = true;
      this.#failures = 0;
      return;
    }
    const asked = process.asked.get(Number(number));
    process.asked.delete(Number(number));
    process.hasServed = true;
    if (word === 'no') this.#refused(process, String(step), Number(errno));
    asked?.answer(word === 'ok');
  }

  /** The daemon tries itself, and says so if it fails too. */
  #refused(process: LauncherProcess, step: string, errno: number): void {
    this.#options.log.info('the native launcher could not begin a run, so the daemon does', { step, errno });
    if (OUT_OF_FILES.includes(errno)) this.#retire(process);
    // Somebody has cleared away the place where directories are made.
    if (errno === ENOENT) mkdirSync(this.#staging, { recursive: true, mode: 0o700 });
  }

  /** A machine that is short of something is no machine that cannot run it. */
  #notStarted(process: LauncherProcess, error: Error): void {
    if (machineFault(error) === null) this.#failures = MAX_FAILURES;
    this.#gone(process, `could not be executed: ${error.message}`);
  }

  #gone(process: LauncherProcess, how: string): void {
    const { log } = this.#options;
    const wasInUse = this.#process === process;
    process.channel?.destroy();
    if (!process.isReady) this.#failures += 1;
    if (this.#failures >= MAX_FAILURES && !this.#hasWorked) {
      this.#broken = `the native one does not run here: it ${how}`;
      log.warn('the native launcher does not run here, so sh is used', { how });
    } else if (wasInUse && !this.#isClosed) log.warn('the native launcher is gone and is replaced', { how });
    if (wasInUse) this.#replace(process);
    for (const { answer } of process.asked.values()) answer(false);
    process.asked.clear();
  }

  /** At once, unless it was good for nothing: then the next start tries again. */
  #replace({ hasServed }: LauncherProcess): void {
    this.#process = null;
    if (hasServed) this.wake();
  }

  /** Only while an answer is owed: an idle launcher costs no timer. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#watchAnswers().finally(() => {
      this.#isWatching = false;
    });
  }

  async #watchAnswers(): Promise<void> {
    const { clock } = this.#options;
    for (let process = this.#process; process?.owesSince != null; process = this.#process) {
      await clock.sleepUntil(after(clock.now(), LOOK_MS), NEVER);
      const waitedMs = process.owesSince === null ? 0 : clock.now() - process.owesSince;
      if (waitedMs >= NO_ANSWER_AFTER_MS || (waitedMs >= LOOK_MS && isStopped(process.child.pid))) this.#kill(process);
    }
  }

  /** Until it is gone, nothing of what it was asked for is begun by anybody else. */
  #kill(process: LauncherProcess): void {
    if (this.#process === process) this.#replace(process);
    this.#options.log.warn('the native launcher gives no answer and is replaced', { pid: process.child.pid });
    process.child.kill('SIGKILL');
  }

  /** Nothing more is asked of it. What it was asked for before it still does, or says that it cannot; then it ends. */
  #retire(process: LauncherProcess): void {
    if (this.#process === process) this.#replace(process);
    if (!process.isThere) return;
    const left = this.#left(process);
    process.channel?.end();
    this.#leaving.add(left);
    void left.finally(() => this.#leaving.delete(left));
  }

  async #left({ child }: LauncherProcess): Promise<void> {
    const { clock } = this.#options;
    const timer = new AbortController();
    const left = once(child, 'exit');
    const tooLong = clock.sleepUntil(after(clock.now(), LEAVE_WITHIN_MS), timer.signal);
    tooLong.then(
      () => child.kill('SIGKILL'),
      () => {},
    );
    await left;
    timer.abort();
  }
}

function isStopped(pid: number | undefined): boolean {
  try {
    return pid !== undefined && readProcStat(pid)?.state === 'T';
  } catch {
    return false;
  }
}
