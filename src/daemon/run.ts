/** One daemon: takes the lock, serves until told to end, and closes everything in reverse. */
import { chmodSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { AppError } from '../core/errors.ts';
import type { DaemonView } from '../core/views.ts';
import { bootId, readProcStat } from '../drivers/process/proc.ts';
import { createHttpServer } from '../http/server.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import { VERSION } from '../version.ts';
import { type Assembled, assemble } from './assemble.ts';
import { configurationFor } from './configuration.ts';
import type { DaemonLog } from './daemon-log.ts';
import { type DaemonFile, type HomePaths, type Project, readDaemonFile, socketPath } from './home.ts';
import { writeAtomically } from './home-dir.ts';
import type { Environment } from './launch-run.ts';
import { softNofile } from './limits.ts';
import { takeLock } from './lock.ts';
import { watchLoop } from './loop-watch.ts';

export interface RunOptions {
  readonly project: Project;
  readonly paths: HomePaths;
  readonly env: Environment;
  readonly log: DaemonLog;
  readonly failpoints: Failpoints;
  /** Started by `keepwell up`: components nobody ever asked for are not started by themselves. */
  readonly onDemand: boolean;
  /** Brought back by the guardian. */
  readonly respawned: boolean;
  guardianPid(): number | null;
  /** Writes down what went wrong and ends the process. */
  fatal(error: unknown): void;
}

/** How a daemon ends: stopping its components first, or leaving them to the next one. */
export type Ending = 'stop' | 'down' | 'handover';

export interface RunningDaemon {
  readonly assembled: Assembled;
  /** Resolves when somebody asked for the end through the API. */
  readonly asked: Promise<Ending>;
  /** Closes everything; components are stopped first unless they are handed over. */
  end(how: Ending): Promise<void>;
  /** Marks the end as meant, and nothing else: for leaving at once. */
  leave(): void;
}

export async function startDaemon(options: RunOptions): Promise<RunningDaemon> {
  const { project, paths, env, log, failpoints } = options;
  const lock = await takeLock(paths.lock);
  if (!lock) throw new AppError('DAEMON_ALREADY_RUNNING', { holder: describeHolder(readDaemonFile(paths)) });
  failpoints.hit('daemon.locked');
  const socket = socketPath(paths.home, env, process.getuid?.() ?? 0);
  const startedAt = new Date().toISOString();
  writeDaemonFile(options, socket, startedAt);
  const config = configurationFor(project, paths, env, options.respawned, log);
  const loop = watchLoop();
  let askToEnd: (how: Ending) => void = () => {};
  const asked = new Promise<Ending>((resolve) => {
    askToEnd = resolve;
  });
  const assembled = await assemble({
    paths,
    config,
    env,
    log,
    failpoints,
    fatal: options.fatal,
    softNofile: softNofile(env, process.ppid),
    about: { pid: process.pid, version: VERSION, respawned: options.respawned },
    wantNew: options.onDemand ? 'stopped' : 'running',
    end: askToEnd,
    daemon: (): DaemonView => ({
      running: true,
      answers: true,
      pid: process.pid,
      version: VERSION,
      started_at: startedAt,
      store: assembled.storeHealth(),
      loop_delay_ms: loop.longestStallMs(),
      guardian_pid: options.guardianPid(),
    }),
  });
  failpoints.hit('daemon.before-listen');
  const server = createHttpServer({ control: assembled.control, log, version: VERSION });
  await listen(server, socket);
  log.info('the daemon is up', {
    version: VERSION,
    socket,
    components: config.components.length,
    respawned: options.respawned,
  });
  const leave = () => rmSync(paths.daemonJson, { force: true }); // its absence says: this end was meant
  return {
    assembled,
    asked,
    end: async (how) => {
      log.info('the daemon ends', { how });
      if (how !== 'handover') await assembled.supervisor.shutDown();
      assembled.supervisor.tell('daemon.ended', { how });
      await close(server);
      await assembled.close();
      loop[Symbol.dispose]();
      leave();
      lock.release();
    },
    leave,
  };
}

function writeDaemonFile(options: RunOptions, socket: string, startedAt: string): void {
  const file: DaemonFile = {
    pid: process.pid,
    start_time: readProcStat(process.pid)?.startTime ?? '',
    boot_id: bootId(),
    version: VERSION,
    started_at: startedAt,
    socket,
    files: options.project.files,
    guardian_pid: options.guardianPid(),
  };
  try {
    writeAtomically(options.paths.daemonJson, `${JSON.stringify(file, null, 2)}\n`);
  } catch (error) {
    options.log.error('daemon.json could not be written; going on without it', { error: String(error) });
  }
}

function describeHolder(file: DaemonFile | null): string {
  return file ? `pid ${file.pid}, version ${file.version}, since ${file.started_at}` : 'one that is just starting';
}

/** The socket is bound under the lock, so whatever lies at its path is stale. */
async function listen(server: Server, socket: string): Promise<void> {
  rmSync(socket, { force: true });
  const before = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socket, resolve);
    });
  } finally {
    process.umask(before);
  }
  chmodSync(socket, 0o600);
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
