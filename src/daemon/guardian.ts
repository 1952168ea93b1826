/** The guardian: a tiny sh that brings the daemon back when it dies, and ends when the daemon ends by itself. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths, Project } from '../base/home.ts';
import { writeAtomically } from '../base/home-dir.ts';
import { openToAppend, readRegularFile } from '../base/regular-file.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { guardianScript, PATIENCE } from './guardian-script.ts';

export interface GuardianOptions {
  readonly project: Project;
  readonly paths: HomePaths;
  readonly env: Environment;
  /** The CLI bundle that knows the command "daemon". */
  readonly entry: string;
  /** A daemon that lost its guardian and wants a new one. */
  readonly watch?: { readonly pid: number; readonly startTime: string };
}

/** Written by the guardian each time the daemon ends. */
export const exitFile = (paths: HomePaths): string => join(paths.home, 'daemon.exit');

export interface LastEnd {
  readonly code: number;
  /** Who wrote it; older guardians did not say. */
  readonly guardian: number | null;
  /** When it starts the next one, in milliseconds since boot. */
  readonly nextStartMs: number | null;
}

const MS_PER_HUNDREDTH = 10;

/** Null: none has ended yet; also while the guardian is just writing it, when the file is there and empty. */
export function readLastEnd(paths: HomePaths): LastEnd | null {
  try {
    const [, code, guardian, next] = /^(\d+)(?: (\d+) (\d+))?\n/.exec(readRegularFile(exitFile(paths))) ?? [];
    if (code === undefined) return null;
    return {
      code: Number(code),
      guardian: guardian === undefined ? null : Number(guardian),
      nextStartMs: next === undefined ? null : Number(next) * MS_PER_HUNDREDTH,
    };
  } catch {
    return null;
  }
}

/**
 * Starts a guardian in its own session. Its output, and so the last words of a daemon that falls over, go to daemon.log. Neither a full
 * nor a read-only disk is in the way: the script of an earlier guardian will do, and so will none. 0: no process can be started.
 */
export function startGuardian({ project, paths, env, entry, watch }: GuardianOptions): number {
  const log = openLog(paths.daemonLog);
  const files = project.files.flatMap((file) => ['-f', file]);
  const daemon = [process.execPath, entry, ...files, 'daemon', '--on-demand'];
  const watched = watch ? [String(watch.pid), watch.startTime] : ['-', '-'];
  try {
    const args = [
      ...script(join(paths.home, 'guardian.sh')),
      ...watched,
      exitFile(paths),
      paths.daemonJson,
      '0',
      ...daemon,
    ];
    const guardian = spawn('/bin/sh', args, {
      cwd: '/',
      env: { ...env, KEEPWELL_HOME: paths.home },
      detached: true,
      stdio: ['ignore', log, log],
    });
    guardian.on('error', () => {}); // no process to be had: the caller notices that no daemon answers
    guardian.unref();
    return guardian.pid ?? 0;
  } finally {
    if (log !== 'ignore') closeSync(log);
  }
}

function script(path: string): readonly string[] {
  const text = guardianScript(PATIENCE);
  try {
    writeAtomically(path, text);
    return [path];
  } catch {
    return existsSync(path) ? [path] : ['-c', text, path];
  }
}

function openLog(path: string): number | 'ignore' {
  try {
    return openToAppend(path);
  } catch {
    return 'ignore';
  }
}
