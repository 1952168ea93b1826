/** One daemon: takes the lock, serves until told to end, and closes everything in reverse. */

import { rmSync } from 'node:fs';
import { Listener } from '../api/listener.ts';
import { createHttpServer } from '../api/server.ts';
import { everyAligned } from '../base/aligned.ts';
import { systemClock } from '../base/clock.ts';
import type { DaemonLog } from '../base/daemon-log.ts';
import type { Failpoints } from '../base/failpoints.ts';
import { type DaemonFile, type HomePaths, type Project, readDaemonFile, socketPath } from '../base/home.ts';
import { clearDrafts, prepareHome, writeAtomically } from '../base/home-dir.ts';
import { softNofile } from '../base/limits.ts';
import { type ProjectLock, takeLock } from '../base/lock.ts';
import { pageFile } from '../base/program-file.ts';
import { AppError } from '../base/pure/errors.ts';
import type { MonoMs } from '../base/pure/ids.ts';
import { createStallWatch } from '../base/stall-watch.ts';
import { configurationFor } from '../config/applied.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { Dashboard } from '../dashboard/service.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { hasRoomForConnection } from '../drivers/process/descriptors.ts';
import { readProcStat } from '../drivers/process/proc.ts';
import type { DaemonView } from '../supervision/rules/views.ts';
import { VERSION } from '../version.ts';
import { type Assembled, assemble, type Ending } from './assemble.ts';

export interface RunOptions {
  readonly project: Project;
  readonly paths: HomePaths;
  /** A configuration that is in no file, as the library's can be: it is used as it is, and the files of the project are never read. */
  readonly config?: ResolvedConfig;
  readonly env: Environment;
  readonly log: DaemonLog;
  readonly failpoints: Failpoints;
  /** Started by `keepwell up`: components nobody ever asked for are not started by themselves. */
  readonly onDemand: boolean;
  /** Brought back by the guardian. */
  readonly respawned: boolean;
  guardianPid(): number | null;
  /** The systemd unit that runs it. */
  readonly service?: string | null;
  /** A part of another program, as with the library. */
  readonly hosted: boolean;
  /** Writes down what went wrong and ends the process. */
  fatal(error: unknown): void;
}

export interface RunningDaemon {
  readonly assembled: Assembled;
  /** Resolves when somebody asked for the end through the API. */
  readonly asked: Promise<Ending>;
  /** Closes everything; components are stopped first unless they are handed over. Resolves with the sessions that could not be ended. */
  end(how: Ending): Promise<readonly string[]>;
  /** Marks the end as meant, and nothing else: for leaving at once. */
  leave(): void;
}

/** How often a daemon looks whether its place in the file system is still its own. */
const UPKEEP_MS = 5_000;
/** Stalls of the event loop that `status` still tells of. */
const RECENT_MS = 60_000;
/** Until all is put together. */
const NOT_KNOWN_YET = { store: null, logs: null, sessions: null, alerts: null, fleet: null } as const;

export async function startDaemon(options: RunOptions): Promise<RunningDaemon> {
  const { paths, failpoints } = options;
  const lock = await takeLock(paths.lock);
  if (!lock) throw new AppError('DAEMON_ALREADY_RUNNING', { holder: describeHolder(readDaemonFile(paths)) });
  failpoints.hit('daemon.locked');
  clearDrafts(paths.home);
  const holding = new Holding(options, lock);
  try {
    return await holding.begin();
  } catch (error) {
    await holding.close(); // nothing may keep this process alive: the guardian has to try again
    throw error;
  }
}

/** All that a daemon holds while it runs. Components are not among it: those live on whatever happens here. */
class Holding {
  readonly #options: RunOptions;
  readonly #startedAt = new Date().toISOString();
  readonly #stalls = createStallWatch(systemClock);
  readonly #socket: string;
  #lock: ProjectLock;
  #assembled: Assembled | null = null;
  #listener: Listener | null = null;
  #dashboard: Dashboard | null = null;
  #upkeep: Disposable | null = null;
  #isEnding = false;

  constructor(options: RunOptions, lock: ProjectLock) {
    this.#options = options;
    this.#lock = lock;
    this.#socket = socketPath(options.paths.home, options.env, process.getuid?.() ?? 0);
  }

  async begin(): Promise<RunningDaemon> {
    const { project, paths, env, log, failpoints, respawned, config: fixed } = this.#options;
    writeDaemonFile(this.#options, this.#socket, this.#startedAt);
    const config = fixed ?? (await configurationFor(project, paths, env, respawned, log));
    let askToEnd: (how: Ending) => void = () => {};
    const asked = new Promise<Ending>((resolve) => {
      askToEnd = resolve;
    });
    const assembled = await assemble({
      paths,
      config,
      isFixed: fixed !== undefined,
      env,
      log,
      failpoints,
      fatal: this.#options.fatal,
      hosted: this.#options.hosted,
      softNofile: softNofile(env, process.ppid),
      socket: this.#socket,
      stalls: this.#stalls,
      about: { pid: process.pid, version: VERSION, respawned },
      wantNew: this.#options.onDemand ? 'stopped' : 'running',
      end: askToEnd,
      daemon: () => this.#view(),
      dashboard: async (role) => {
        if (this.#dashboard === null)
          throw new AppError('DASHBOARD_CLOSED', { problem: 'the daemon is just starting.' });
        return await this.#dashboard.find(role);
      },
    });
    this.#assembled = assembled;
    failpoints.hit('daemon.before-listen');
    const unready = () => (this.#isEnding ? ['it is shutting down'] : []);
    const served = { control: assembled.control, log, version: VERSION, unready, metrics: () => assembled.metrics() };
    this.#listener = new Listener(this.#socket, () => createHttpServer({ ...served, hasRoom: hasRoomForConnection }));
    await this.#listener.open();
    const { config: current, onConfig, tell } = assembled.around;
    this.#dashboard = new Dashboard({
      ...{ clock: systemClock, log, tokenFile: paths.token, pageFile, onConfig, tell },
      configured: () => current().dashboard,
      // Who watches from afar gets what is left: when descriptors are short, the unix socket comes first.
      serve: (door, tls) =>
        createHttpServer({ ...served, door, tls, hasRoom: () => hasRoomForConnection(Number.POSITIVE_INFINITY) }),
    });
    this.#dashboard.begin();
    this.#upkeep = everyAligned(UPKEEP_MS, () => void this.#keepPlace(askToEnd));
    log.info('the daemon is up', {
      version: VERSION,
      socket: this.#socket,
      components: config.components.length,
      respawned,
    });
    return { assembled, asked, end: (how) => this.#end(assembled, how), leave: () => this.#leave() };
  }

  async #end(assembled: Assembled, how: Ending): Promise<readonly string[]> {
    this.#options.log.info('the daemon ends', { how });
    this.#isEnding = true;
    const sessions = await assembled.end(how);
    if (sessions.length > 0)
      this.#options.log.warn('sessions could not be ended; the next daemon does it', { sessions });
    this.#leave();
    await this.close();
    return sessions;
  }

  /** Lets go of everything and touches no component. */
  async close(): Promise<void> {
    this.#upkeep?.[Symbol.dispose]();
    await this.#dashboard?.close();
    await this.#listener?.close();
    await this.#assembled?.close();
    this.#stalls[Symbol.dispose]();
    this.#lock.release();
  }

  /** The absence of daemon.json says that this end was meant. Another daemon's file is not ours to remove. */
  #leave(): void {
    const { paths } = this.#options;
    try {
      if ((readDaemonFile(paths)?.pid ?? process.pid) === process.pid) rmSync(paths.daemonJson, { force: true });
    } catch (error) {
      this.#options.log.error('daemon.json could not be removed', { error: String(error) });
    }
  }

  /** Somebody may have removed the socket or the whole state directory. We are still here, and must be found. */
  async #keepPlace(askToEnd: (how: Ending) => void): Promise<void> {
    const { log, project, paths } = this.#options;
    try {
      if (!this.#lock.isInPlace()) {
        log.error('the state directory was removed; making it anew', { home: paths.home });
        prepareHome(project);
        const lock = await takeLock(paths.lock);
        if (!lock) {
          log.error('another daemon holds the project now; leaving it to that one');
          askToEnd('handover');
          return;
        }
        this.#lock = lock; // the old one, of a file that is gone, is let go with this process
        this.#assembled?.save();
      }
      if (this.#listener && !this.#listener.isInPlace()) {
        log.warn('the socket was removed; listening anew', { socket: this.#socket });
        await this.#listener.close();
        await this.#listener.open();
      }
      if (readDaemonFile(paths)?.pid !== process.pid) writeDaemonFile(this.#options, this.#socket, this.#startedAt);
    } catch (error) {
      log.error('could not get back to our place; trying again', { error: String(error) });
    }
  }

  #view(): DaemonView {
    const { store, logs, sessions, alerts, fleet } = this.#assembled?.view() ?? NOT_KNOWN_YET;
    return {
      running: true,
      answers: true,
      pid: process.pid,
      version: VERSION,
      started_at: this.#startedAt,
      store,
      loop_delay_ms: Math.round(this.#stalls.latestSince((systemClock.now() - RECENT_MS) as MonoMs)),
      guardian_pid: this.#options.guardianPid(),
      ...{ logs, sessions, alerts, fleet, page: this.#dashboard?.view() ?? null },
    };
  }
}

function writeDaemonFile(options: RunOptions, socket: string, startedAt: string): void {
  try {
    const file: DaemonFile = {
      pid: process.pid,
      start_time: readProcStat(process.pid)?.startTime ?? '',
      boot_id: systemClock.bootId,
      version: VERSION,
      started_at: startedAt,
      socket,
      files: options.project.files,
      guardian_pid: options.guardianPid(),
      service: options.service ?? null,
      hosted: options.hosted,
    };
    writeAtomically(options.paths.daemonJson, `${JSON.stringify(file, null, 2)}\n`);
  } catch (error) {
    options.log.error('daemon.json could not be written; going on without it', { error: String(error) });
  }
}

function describeHolder(file: DaemonFile | null): string {
  return file ? `pid ${file.pid}, version ${file.version}, since ${file.started_at}` : 'one that is just starting';
}
