/** The guardian: a tiny sh that brings the daemon back when it dies, and ends when the daemon ends by itself. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths, Project } from './home.ts';
import { writeAtomically } from './home-dir.ts';
import type { Environment } from './launch-run.ts';

/**
 * Arguments: the pid and start time of a daemon to watch (or - -), the exit file, then the command of the daemon.
 * A daemon that is not our child is watched by its /proc entry; its clean end removes daemon.json, its crash does not.
 * Backoff: at once, then 0.2 s doubling to 25.6 s; a daemon that lived for a minute starts it afresh.
 */
const SCRIPT = String.raw`pid=$1 born=$2 exitfile=$3 daemonjson=$4
shift 4
KEEPWELL_GUARDIAN=$$
export KEEPWELL_GUARDIAN
started() { # start time of $pid: field 22 of stat, the 20th after the name in parentheses
  read -r stat < "/proc/$pid/stat" || return 1
  set -- $(printf '%s' "$stat" | sed 's/.*) //')
  shift 19
  now_born=$1
} 2>/dev/null
if [ "$pid" != - ]; then
  while started && [ "$now_born" = "$born" ]; do sleep 0.5; done
  [ -e "$daemonjson" ] || exit 0
  KEEPWELL_RESPAWN=1
  export KEEPWELL_RESPAWN
fi
tenths=0
while :; do
  read -r up rest < /proc/uptime
  began=$(printf '%s' "$up" | sed 's/[.].*//')
  "$@" </dev/null
  code=$?
  printf '%s\n' "$code" > "$exitfile"
  [ "$code" = 0 ] && exit 0
  read -r up rest < /proc/uptime
  ended=$(printf '%s' "$up" | sed 's/[.].*//')
  [ $((ended - began)) -ge 60 ] && tenths=0
  [ "$tenths" -gt 0 ] && sleep $((tenths / 10)).$((tenths % 10))
  tenths=$((tenths * 2))
  [ "$tenths" = 0 ] && tenths=2
  [ "$tenths" -gt 256 ] && tenths=256
  KEEPWELL_RESPAWN=1
  export KEEPWELL_RESPAWN
done
`;

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

/** Starts a guardian in its own session. Its output, and so the last words of a daemon that falls over, go to daemon.log. */
export function startGuardian({ project, paths, env, entry, watch }: GuardianOptions): number {
  const script = join(paths.home, 'guardian.sh');
  writeAtomically(script, SCRIPT);
  const log = openSync(paths.daemonLog, 'a', 0o600);
  const files = project.files.flatMap((file) => ['-f', file]);
  const daemon = [process.execPath, entry, ...files, 'daemon', '--on-demand'];
  try {
    const args = [
      script,
      watch ? String(watch.pid) : '-',
      watch?.startTime ?? '-',
      exitFile(paths),
      paths.daemonJson,
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
    closeSync(log);
  }
}
