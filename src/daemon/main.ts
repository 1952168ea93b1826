/** The daemon as a process: signals, the guardian's health, the last words before falling over, the exit code. */

import { AppError } from '../core/errors.ts';
import { HANDOVER_EXIT, SERVICE_VARIABLE } from '../core/service.ts';
import { bootId, readProcStat } from '../drivers/process/proc.ts';
import { type DaemonLog, openDaemonLog } from './daemon-log.ts';
import { parseFailpoints } from './failpoints.ts';
import { openForeground } from './foreground.ts';
import { startGuardian } from './guardian.ts';
import { type HomePaths, type Project, readDaemonFile } from './home.ts';
import { prepareHome } from './home-dir.ts';
import type { Environment } from './launch-run.ts';
import { type Ending, type RunningDaemon, startDaemon } from './run.ts';

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
  const paths = prepareHome(project);
  // Behind a guardian, standard output is a file that nobody reads.
  using foreground = env['KEEPWELL_GUARDIAN'] ? null : openForeground();
  const log = openDaemonLog(paths.daemonLog, (line) => foreground?.write(line));
  const fall = (error: unknown): void => {
    log.error('the daemon falls over; its components go on', { error: String((error as Error)?.stack ?? error) });
    process.exit(EXIT_INTERNAL);
  };
  process.on('uncaughtException', fall);
  process.on('unhandledRejection', fall);
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
      respawned: env['KEEPWELL_RESPAWN'] === '1' || (service !== null && lastOneDied(paths)),
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
  #timer: NodeJS.Timeout | null = null;
  readonly #options: DaemonMainOptions;
  readonly #paths: HomePaths;
  readonly #log: DaemonLog;
  /** Start time of the guardian's pid, so that a recycled pid is not mistaken for it. */
  #born: string | undefined;

  constructor(options: DaemonMainOptions, paths: HomePaths, log: DaemonLog) {
    this.#options = options;
    this.#paths = paths;
    this.#log = log;
    const pid = Number(options.env['KEEPWELL_GUARDIAN']);
    this.#pid = Number.isInteger(pid) && pid > 0 ? pid : null;
    this.#born = this.#pid === null ? undefined : readProcStat(this.#pid)?.startTime;
  }

  get pid(): number | null {
    return this.#pid;
  }

  watch(): void {
    if (this.#pid === null) return; // in the foreground: systemd, a container or a person looks after us
    this.#timer = setInterval(() => this.#check(), GUARDIAN_CHECK_MS);
    this.#timer.unref();
  }

  #check(): void {
    if (this.#pid !== null && this.#born !== undefined && readProcStat(this.#pid)?.startTime === this.#born) return;
    const { project, env, entry } = this.#options;
    const startTime = readProcStat(process.pid)?.startTime ?? '';
    this.#pid = startGuardian({ project, paths: this.#paths, env, entry, watch: { pid: process.pid, startTime } });
    this.#born = readProcStat(this.#pid)?.startTime;
    this.#log.warn('the guardian was gone; started a new one', { guardian: this.#pid });
  }

  dispose(): void {
    if (this.#timer) clearInterval(this.#timer);
  }
}
