/** The daemon as a process: signals, the guardian's health, the last words before falling over, the exit code. */

import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { everyAligned } from '../base/aligned.ts';
import { type HomePaths, type Project, readDaemonFile } from '../base/home.ts';
import { prepareHome } from '../base/home-dir.ts';
import { errorCode } from '../base/pure/errno.ts';
import { AppError } from '../base/pure/errors.ts';
import { withoutEscapes } from '../base/pure/escapes.ts';
import { HANDOVER_EXIT, SERVICE_VARIABLE } from '../base/pure/service.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { bootId, isAlive, readProcStat } from '../drivers/process/proc.ts';
import { type DaemonLog, openDaemonLog } from './daemon-log.ts';
import { parseFailpoints } from './failpoints.ts';
import { startGuardian } from './guardian.ts';
import { type Ending, type RunningDaemon, startDaemon } from './run.ts';
import { untilWritable } from './until-writable.ts';

export interface DaemonMainOptions {
  readonly project: Project;
  readonly env: Environment;
  readonly onDemand: boolean;
  /** The CLI bundle, to start a new guardian with. */
  readonly entry: string;
}

const EXIT_INTERNAL = 70;
const GUARDIAN_CHECK_MS = 5_000;

/** Runs until it is told to end; resolves to the exit code. */
export async function runDaemonMain(options: DaemonMainOptions): Promise<number> {
  const { project, env } = options;
  if (process.platform !== 'linux') throw new AppError('PLATFORM_UNSUPPORTED', { platform: process.platform });
  const isBroughtBack = env['KEEPWELL_RESPAWN'] === '1';
  if (isBroughtBack) await untilWritable(project.home, (problem) => process.stderr.write(waiting(project, problem)));
  const paths = prepareHome(project);
  // Behind a guardian, standard output is a file that nobody reads.
  using foreground = env['KEEPWELL_GUARDIAN'] ? null : openForeground();
  const log = openDaemonLog(paths.daemonLog, (line) => foreground?.write(line));
  const fall = (error: unknown): void => {
    log.error('the daemon falls over; its components go on', { error: String((error as Error)?.stack ?? error) });
    process.exit(EXIT_INTERNAL);
  };
  // Steps of components tell of their failures by themselves. What arrives here comes from a helper: a timer, a socket, a child.
  const survive = (error: unknown): void => {
    if (isOfSystem(error)) log.error('a helper failed; going on', { error: String((error as Error).stack) });
    else fall(error);
  };
  process.on('uncaughtException', survive);
  process.on('unhandledRejection', survive);
  if (process.pid === 1)
    log.warn('running as pid 1 without an init: orphaned processes will stay zombies; use "docker run --init" or tini');
  const guardian = new Guardian(options, paths, log);
  const service = guardian.pid === null ? env[SERVICE_VARIABLE] || null : null;
  const signals = new Signals();
  try {
    const daemon = await startDaemon({
      project,
      paths,
      env,
      log,
      failpoints: parseFailpoints(env['KEEPWELL_FAILPOINTS']),
      onDemand: options.onDemand,
      respawned: isBroughtBack || (service !== null && lastOneDied(paths)),
      guardianPid: () => guardian.pid,
      service,
      hosted: false,
      fatal: fall,
    });
    guardian.watch();
    const how = await serve(daemon, signals, log);
    return how === 'handover' && service !== null ? HANDOVER_EXIT : 0;
  } catch (error) {
    const { code, hint } = error as Partial<AppError>;
    log.error((error as Error).message, { code, hint });
    // Another daemon does the work: nothing for our guardian, or for systemd, to bring back.
    const isWatched = guardian.pid !== null || service !== null;
    if (isWatched && error instanceof AppError && error.code === 'DAEMON_ALREADY_RUNNING') return 0;
    throw error;
  } finally {
    guardian.dispose();
    signals.dispose();
    log[Symbol.dispose]();
  }
}

/** Behind a guardian this goes to daemon.log, if that can be written. */
const waiting = ({ home }: Project, problem: string): string =>
  `keepwell: the state directory ${home} cannot be written: ${problem}. Components go on; the daemon comes back when it can be.\n`;

/** Something the operating system refused, and no mistake of ours. */
const isOfSystem = (error: unknown): boolean =>
  errorCode(error) !== '' && typeof (error as NodeJS.ErrnoException).syscall === 'string';

/** SIGTERM, SIGINT: stop in order. A second one: leave at once, components live on. SIGHUP: read the configuration again. */
async function serve(daemon: RunningDaemon, signals: Signals, log: DaemonLog): Promise<Ending> {
  signals.onReload = () => reload(daemon, log);
  const how: Ending = await Promise.race([daemon.asked, signals.first.then(() => 'stop' as const)]);
  const atOnce = signals.second.then(() => {
    log.warn('a second signal: leaving at once, components live on');
    daemon.leave();
    process.exit(0); // the kernel closes what is still open
  });
  await Promise.race([daemon.end(how), atOnce]);
  return how;
}

/** systemd says nothing about it, but a clean end removes daemon.json, and a crash does not. After a reboot it means nothing. */
const lastOneDied = (paths: HomePaths): boolean => readDaemonFile(paths)?.boot_id === bootId();

function reload({ assembled }: RunningDaemon, log: DaemonLog): void {
  assembled.control.reload().then(
    ({ added, changed, restarted, removed }) =>
      log.info('configuration read again', { added, changed, restarted, removed }),
    (error: unknown) =>
      log.error('configuration not applied; everything stays as it was', { problem: (error as Error).message }),
  );
}

class Signals {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
  onReload: () => void = () => {};
  #count = 0;
  readonly #onEnd: () => void;
  readonly #onHup = (): void => this.onReload();

  constructor() {
    let [first, second]: [() => void, () => void] = [() => {}, () => {}];
    this.first = new Promise((resolve) => {
      first = resolve;
    });
    this.second = new Promise((resolve) => {
      second = resolve;
    });
    this.#onEnd = () => (++this.#count === 1 ? first() : second());
    process.on('SIGTERM', this.#onEnd).on('SIGINT', this.#onEnd).on('SIGHUP', this.#onHup);
  }

  dispose(): void {
    process.off('SIGTERM', this.#onEnd).off('SIGINT', this.#onEnd).off('SIGHUP', this.#onHup);
  }
}

/** Our guardian brings us back; we bring our guardian back. */
class Guardian {
  #pid: number | null;
  #checks: Disposable | null = null;
  readonly #options: DaemonMainOptions;
  readonly #paths: HomePaths;
  readonly #log: DaemonLog;
  /** Start time of the guardian's pid, so that a recycled pid is not mistaken for it; null: not known yet. */
  #born: string | null;
  #isFailing = false;

  constructor(options: DaemonMainOptions, paths: HomePaths, log: DaemonLog) {
    this.#options = options;
    this.#paths = paths;
    this.#log = log;
    const pid = Number(options.env['KEEPWELL_GUARDIAN']);
    this.#pid = Number.isInteger(pid) && pid > 0 ? pid : null;
    this.#born = this.#pid === null ? null : this.#startOf(this.#pid);
  }

  get pid(): number | null {
    return this.#pid;
  }

  watch(): void {
    if (this.#pid === null) return; // in the foreground: systemd, a container or a person looks after us
    this.#checks = everyAligned(GUARDIAN_CHECK_MS, () => this.#check());
  }

  /** A guardian that cannot be looked at, or none that can be started, is no reason to end: it is tried again the next time. */
  #check(): void {
    try {
      if (!this.#isGone()) return;
      const { project, env, entry } = this.#options;
      const startTime = readProcStat(process.pid)?.startTime ?? '';
      const pid = startGuardian({ project, paths: this.#paths, env, entry, watch: { pid: process.pid, startTime } });
      if (pid === 0) throw new Error('no process can be started');
      this.#pid = pid;
      this.#born = null;
      this.#isFailing = false;
      this.#log.warn('the guardian was gone; started a new one', { guardian: this.#pid });
    } catch (error) {
      if (!this.#isFailing)
        this.#log.error('the guardian cannot be checked now; trying again', { error: String(error) });
      this.#isFailing = true;
    }
  }

  /** Throws when that is not known just now. */
  #isGone(): boolean {
    if (this.#pid === null) return true;
    const stat = readProcStat(this.#pid);
    if (stat === null || !isAlive(stat)) return true;
    this.#born ??= stat.startTime; // it could not be read at first
    return stat.startTime !== this.#born;
  }

  #startOf(pid: number): string | null {
    try {
      return readProcStat(pid)?.startTime ?? null;
    } catch {
      return null;
    }
  }

  dispose(): void {
    this.#checks?.[Symbol.dispose]();
  }
}

// What a daemon in the foreground says on its standard output, for journalctl, `docker logs` and whoever looks on. Nobody may hold up supervision by not reading: a pipe is written to without waiting, and what nobody takes is dropped.

const STDOUT = 1;
const MAX_WAITING_BYTES = 256 * 1024;

export interface Foreground extends Disposable {
  write(line: string): void;
}

export function openForeground(fd = STDOUT): Foreground {
  const stream = pipeTo(fd);
  return {
    write: (raw) => {
      const line = withoutEscapes(raw).replace(/\p{Cc}/gu, ' '); // it may quote what a component wrote
      if (stream === null) writeNow(fd, line);
      else if (stream.writable && stream.writableLength < MAX_WAITING_BYTES) stream.write(`${line}\n`);
    },
    [Symbol.dispose]: () => {
      stream?.end();
      stream?.unref();
    },
  };
}

/** Null: a file or a terminal, which takes what it is given. */
function pipeTo(fd: number): Socket | null {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFIFO() && !stat.isSocket()) return null;
    const stream = new Socket({ fd, readable: false, writable: true });
    stream.on('error', () => {}); // nobody reads any more: daemon.log has it all
    stream.unref();
    return stream;
  } catch {
    return null;
  }
}

function writeNow(fd: number, line: string): void {
  try {
    writeSync(fd, `${line}\n`);
  } catch {
    // closed, or a full disk: daemon.log has it
  }
}
