/** The guardian: a tiny sh that brings the daemon back when it dies, and ends when the daemon ends by itself. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths, Project } from '../base/home.ts';
import { writeAtomically } from '../base/home-dir.ts';
import { openToAppend, readRegularFile } from '../base/regular-file.ts';
import type { Environment } from '../drivers/launch-run.ts';

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

/** Of Node's own. What a daemon has at hand for a moment fits into four megabytes; the sixteen that V8 would take it keeps for good. */
const NODE_OPTIONS = ['--max-semi-space-size=4'];

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
  const daemon = [process.execPath, ...NODE_OPTIONS, entry, ...files, 'daemon', '--on-demand'];
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

// The program of the guardian, for any POSIX sh. It starts as few processes as can be: reading /proc and counting are done by the shell
// itself, because a shell that cannot fork ends.

/** How often the daemon is looked at, how long it may fail to answer, and how often it is asked although it seems to go on. */
export interface Patience {
  readonly everyS: number;
  readonly misses: number;
  readonly askEvery: number;
}

/** The pause between tries while no process can be started. */
const REST_S = 2;

export const PATIENCE: Patience = { everyS: 10, misses: 3, askEvery: 12 };

/**
 * Arguments: the pid and start time of a daemon to watch (or - -), the exit file, daemon.json, the backoff so far in tenths of a second,
 * then the command of the daemon.
 *
 * - A daemon that is not our child is watched by its /proc entry; its clean end removes daemon.json, its crash does not.
 * - Backoff: at once, then 0.2 s doubling to 25.6 s; a daemon that lived for a minute starts it afresh. The exit file says what the last
 *   one ended with, who we are, and at which time since boot (in hundredths of a second) the next one is started.
 * - `watch_it` replaces a daemon that hangs. It goes on when its main thread comes to rest again and again (voluntary switches); when it
 *   does not, and now and then in any case, `--livez` asks it over its socket. A miss counts only when time itself went on as it should
 *   (a machine that slept has no misses), and when the daemon had the processor or did not want it (one that is ready to run and
 *   hardly gets any is on a busy machine).
 * - When no process can be started, the shell ends with an error; the trap begins it anew, in the same process and after a pause. No
 *   process can be started for the pause either: bash and busybox can wait for input that never comes, in place of dash perl or bash
 *   waits and then becomes the guardian again. It goes on with the daemon that it has, as with one that is not its child: a second one
 *   would end at once, which looks as if the daemon was meant to end. From then on it keeps quiet; number 9 is where the daemon and it write to.
 * - Whatever else has been put in place of the exit file is not written to: a pipe would hold it up for ever.
 */
export const guardianScript = ({
  everyS,
  misses,
  askEvery,
}: Patience): string => String.raw`pid=$1 born=$2 exitfile=$3 daemonjson=$4 tenths=$5
shift 5
KEEPWELL_GUARDIAN=$$
export KEEPWELL_GUARDIAN
{ true >&9; } 2>/dev/null || exec 9>&2
watcher=
uptime() { # in hundredths of a second
  read -r now rest < /proc/uptime
  now=${'$'}{now%.*}${'$'}{now#*.}
}
stat_of() { # state, start time and processor time of process $1; fails only when it is gone
  if read -r stat < "/proc/$1/stat"; then
    set -- ${'$'}{stat##*) }
    state=$1 since=${'$'}{20} ticks=$((${'$'}{12} + ${'$'}{13}))
    [ "$state" != Z ]
  else
    [ -e "/proc/$1" ]
  fi
} 2>/dev/null
turns_of() { # how often the main thread of process $1 has come to rest
  while read -r key value; do
    [ "$key" = voluntary_ctxt_switches: ] && turns=$value
  done < "/proc/$1/status"
} 2>/dev/null
watch_it() {
  trap - EXIT
  watched=$1 missed=0 looks=0 last_turns= last_ticks=0 first=
  shift
  while :; do
    uptime
    began_at=$now
    sleep ${everyS}
    uptime
    slept=$((now - began_at))
    state= turns=
    [ -e "/proc/$$" ] || exit 0
    stat_of "$watched" || exit 0
    first=${'$'}{first:-$since}
    [ "$since" = "$first" ] || exit 0
    turns_of "$watched"
    used=$((ticks - last_ticks)) goes=no
    [ -n "$turns" ] && [ "$turns" != "$last_turns" ] && goes=yes
    last_turns=$turns last_ticks=$ticks looks=$((looks + 1))
    [ "$slept" -gt ${everyS * 200} ] && missed=0 && continue
    [ "$goes" = yes ] && [ "$missed" = 0 ] && [ $((looks % ${askEvery})) != 0 ] && continue
    [ "$state" = R ] && [ "$used" -lt $((slept / 10)) ] && continue
    "$@" --livez </dev/null
    case $? in
      0) missed=0 ;;
      1) missed=$((missed + 1)) ;;
    esac
    if [ "$missed" -ge ${misses} ] && stat_of "$watched" && [ "$since" = "$first" ]; then
      echo "keepwell guardian: the daemon (pid $watched) did not answer ${misses} times in a row; it is ended, and a new one started" >&9
      kill -KILL "$watched"
    fi
  done
}
finish() { # nobody of ours is left behind
  trap '' TERM
  trap - EXIT
  kill -TERM 0 2>/dev/null
  exit 0
}
begin_anew() {
  [ -z "$watcher" ] || wait "$watcher"
  set -- /bin/sh "$0" "$pid" "$born" "$exitfile" "$daemonjson" "$tenths" "$@"
  uptime
  began=$now
  read -r -t ${REST_S} rest <>/dev/ptmx
  uptime
  [ $((now - began)) -ge ${REST_S * 50} ] && exec "$@" 9>&9
  command -v perl >/dev/null && exec perl -e 'sleep ${REST_S}; exec @ARGV' "$@" 9>&9
  command -v bash >/dev/null && exec bash -c 'read -r -t ${REST_S} rest <>/dev/ptmx; exec "$@"' bash "$@" 9>&9
  exec "$@" 9>&9
} 2>/dev/null
trap 'begin_anew "$@"' EXIT
if [ "$pid" != - ]; then
  watch_it "$pid" "$@" &
  watcher=$!
  while stat_of "$pid" && [ "${'$'}{since:-$born}" = "$born" ]; do sleep 0.5; done
  [ -e "$daemonjson" ] || finish
  pid=- born=-
  KEEPWELL_RESPAWN=1
  export KEEPWELL_RESPAWN
fi
while :; do
  uptime
  began=$now
  "$@" </dev/null 2>&9 9>&- &
  child=$! pid=$!
  stat_of "$child" && born=$since
  watch_it "$child" "$@" &
  watcher=$!
  wait "$child"
  code=$? pid=- born=-
  uptime
  [ $((now - began)) -ge 6000 ] && tenths=0
  [ -e "$exitfile" ] && [ ! -f "$exitfile" ] ||
    printf '%s %s %s\n' "$code" "$$" "$((now + tenths * 10))" > "$exitfile"
  [ "$code" = 0 ] && finish
  KEEPWELL_RESPAWN=1
  export KEEPWELL_RESPAWN
  [ "$tenths" -gt 0 ] && sleep $((tenths / 10)).$((tenths % 10))
  tenths=$((tenths * 2))
  [ "$tenths" = 0 ] && tenths=2
  [ "$tenths" -gt 256 ] && tenths=256
done
`;
