/** Starts the daemon of a project in the background and waits until it answers, or says why it did not. */
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HomePaths, type Project, readDaemonFile } from '../base/home.ts';
import { prepareHome } from '../base/home-dir.ts';
import { inheritedSoftNofile } from '../base/limits.ts';
import { errorCode } from '../base/pure/errno.ts';
import { AppError } from '../base/pure/errors.ts';
import { readRegularFile } from '../base/regular-file.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { exitFile, readLastEnd, startGuardian } from './guardian.ts';

const LAUNCH_LIMIT_MS = 30_000;
/** It reads one small file, and knocks at a socket once there is one. */
const POLL_MS = 5;
/** On a busy machine a look takes longer, and the daemon needs the processor more than we do. */
const REST_RATIO = 9;

export interface LaunchOptions {
  readonly project: Project;
  readonly env: Environment;
  /** The CLI bundle itself. */
  readonly entry: string;
}

export async function launchDaemon({ project, env, entry }: LaunchOptions): Promise<void> {
  const paths = prepareHome(project);
  rmSync(exitFile(paths), { force: true });
  const softNofile = inheritedSoftNofile(process.ppid);
  const guardianEnv = softNofile === null ? env : { ...env, KEEPWELL_SOFT_NOFILE: String(softNofile) };
  const guardian = startGuardian({ project, paths, env: guardianEnv, entry });
  const until = performance.now() + LAUNCH_LIMIT_MS;
  while (performance.now() < until) {
    const lookedAt = performance.now();
    if (await answers(readDaemonFile(paths)?.socket)) return;
    const end = readLastEnd(paths);
    if (end !== null && end.code !== 0) {
      endGuardian(guardian);
      throw new AppError('DAEMON_START_FAILED', { problem: lastWords(paths), log: paths.daemonLog });
    }
    await sleep(Math.max(POLL_MS, (performance.now() - lookedAt) * REST_RATIO));
  }
  throw new AppError('DAEMON_START_FAILED', {
    problem: `it did not answer within ${LAUNCH_LIMIT_MS / 1000} s`,
    log: paths.daemonLog,
  });
}

/** 'nobody': nobody listens, as before a daemon is up; 'silent': somebody does, and gave no answer in time. */
export function livez(socket: string, timeoutMs: number): Promise<'answers' | 'silent' | 'nobody'> {
  return new Promise((resolve) => {
    const asked = request({ socketPath: socket, path: '/livez', headers: { host: 'localhost' } }, (response) => {
      response.resume();
      end('answers');
    });
    const timer = setTimeout(() => end('silent'), timeoutMs);
    const end = (how: 'answers' | 'silent' | 'nobody'): void => {
      clearTimeout(timer);
      resolve(how);
      asked.destroy();
    };
    // One that closes the connection has seen it.
    asked.on('error', (error) =>
      end(
        ['ENOENT', 'ECONNREFUSED'].includes(errorCode(error))
          ? 'nobody'
          : errorCode(error) === 'EAGAIN'
            ? 'silent'
            : 'answers',
      ),
    );
    asked.end();
  });
}

/** Does a live daemon listen here? */
export function answers(socket: string | undefined): Promise<boolean> {
  if (socket === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asked = request(
      { socketPath: socket, path: '/livez', headers: { host: 'localhost' }, timeout: 1_000 },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}

function endGuardian(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL'); // its own session: nobody else can be in there but the daemon that failed
  } catch {
    // gone already
  }
}

function lastWords(paths: HomePaths): string {
  try {
    const lines = readRegularFile(paths.daemonLog).trimEnd().split('\n').slice(-5);
    const failed = lines.map(parse).findLast((line) => line?.level === 'error');
    return failed ? [failed.message, failed.hint].filter(Boolean).join('\n') : lines.join('\n');
  } catch {
    return 'it said nothing';
  }
}

interface Entry {
  readonly level?: string;
  readonly message?: string;
  readonly hint?: string;
}

function parse(line: string): Entry | null {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return null;
  }
}
