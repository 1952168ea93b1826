/** The daemon as a process: signals, the guardian's health, the last words before falling over, the exit code. */

import { type DaemonLog, openDaemonLog } from '../base/daemon-log.ts';
import { parseFailpoints } from '../base/failpoints.ts';
import { openForeground } from '../base/foreground.ts';
import { type HomePaths, type Project, readDaemonFile } from '../base/home.ts';
import { prepareHome } from '../base/home-dir.ts';
import { errorCode } from '../base/pure/errno.ts';
import { AppError } from '../base/pure/errors.ts';
import { HANDOVER_EXIT, SERVICE_VARIABLE } from '../base/pure/service.ts';
import { untilWritable } from '../base/until-writable.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { bootId } from '../drivers/process/proc.ts';
import type { Ending } from './assemble.ts';
import { GuardianWatch } from './guardian-watch.ts';
import { type RunningDaemon, startDaemon } from './run.ts';

export interface DaemonMainOptions {
  readonly project: Project;
  readonly env: Environment;
  readonly onDemand: boolean;
  /** The CLI bundle, to start a new guardian with. */
  readonly entry: string;
}

const EXIT_INTERNAL = 70;

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
  const guardian = new GuardianWatch(options, paths, log);
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
