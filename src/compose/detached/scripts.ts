/**
 * What runs in a container beside an attempt's command: a few lines of `sh`, with nothing but what every shell has built in where that
 * is possible, because the image is somebody else's.
 *
 * An attempt has three files beside each other. `claim` is made once, by whoever comes first: "PID START" of the shell that runs
 * the command. `out` is its output. `exit` is reserved in advance, so that a full disk cannot lose the exit code, and says in the end
 * "exit CODE FROM TO end", with seconds of the kernel's uptime. They are in the first of these places that can be written; memory comes last.
 */
export const DISK_PLACES = ['/var/tmp', '/tmp', '/'] as const;
const PLACES = [...DISK_PLACES, '/dev/shm'].join(' ');

/** As the scripts below have it; what follows is a dot and which of the three. */
export const fileOf = (place: string, attempt: string): string => `${place.replace(/\/$/, '')}/.keepwell-${attempt}`;

/** In the environment of everything that an attempt starts. The slashes keep "a-1" from being taken for "a-12". */
export const MARK = 'KEEPWELL_ATTEMPT';
export const markOf = (attempt: string): string => `/${attempt}/`;

/** When a process began, in the kernel's ticks: a pid alone may be another process by now. Empty for what is dead. */
const BORN = `born() { read -r line 2>/dev/null </proc/$1/stat || return; set -- \${line##*) }; [ "$1" = Z ] || echo "\${20}"; }`;

/** Sets `file` and returns true where there is a claim of attempt `id`. */
const FIND = `find_claim() { for dir in ${PLACES}; do file=\${dir%/}/.keepwell-$id; [ -e "$file.claim" ] && return 0; done; return 1; }`;

/** Makes the claim of attempt `id` with this text, and sets `file`. False: there is one, or it cannot be written anywhere. */
const CLAIM = `claim() {
  find_claim && return 1
  set -C
  for dir in ${PLACES}; do
    file=\${dir%/}/.keepwell-$id
    if echo "$1" 2>/dev/null >"$file.claim"; then set +C; return 0; fi
    [ -e "$file.claim" ] && break
  done
  set +C
  return 1
}`;

/** Calls what it is given for every process that carries the mark. Shells leave out the NULs between the variables. */
const MARKED = `each_marked() {
  for process in /proc/[0-9]*; do
    while IFS= read -r text || [ -n "$text" ]; do
      case $text in *"${MARK}=/$id/"*) "$@" "\${process#/proc/}"; break ;; esac
    done 2>/dev/null <"$process/environ"
  done
}`;

const SAY_OUTPUT = `say_output() { tail -c "+$first" "$file.out" 2>/dev/null | head -c "$max" 2>/dev/null; }`;

/** What the first script prints as soon as the attempt is its own. */
export const GREETING = 'begun\n';
/** With its end it tells the beginning of the output, up to this; most have no more. */
export const MAX_TOLD_BYTES = 2 ** 16;

/**
 * Arguments: attempt, attempts whose files are not wanted any more, then the command. Without a claim of its own it does nothing: somebody
 * else has begun the attempt. In the end, when everything is in the files, it prints the output and then a line with the exit, for
 * whoever still listens: that saves another command in the container. The command itself never prints to a listener.
 */
export const BEGIN = `exec 2>/dev/null
${BORN}
${FIND}
${CLAIM}
for id in $2; do find_claim && rm -f "$file.claim" "$file.out" "$file.exit"; done
id=$1
shift 2
claim "$$ $(born $$)" || exit 0
trap '' PIPE
echo ${GREETING.trim()}
trap - PIPE
echo '                                                                ' >"$file.exit"
read -r from rest </proc/uptime
"$@" </dev/null >>"$file.out" 2>&1
code=$?
read -r to rest </proc/uptime
end="exit $code $from $to end"
echo "$end" 1<>"$file.exit"
[ -s "$file.out" ] && head -c ${MAX_TOLD_BYTES} "$file.out"
echo
echo "told $id $end"`;

/**
 * Arguments: attempt, and as for the output below. Prints "exit CODE FROM TO end", "running", "dead" or "absent"; after an exit, on
 * further lines, the output: to run anything in a container takes longer than all of this together.
 */
export const LOOK = `${BORN}
${FIND}
${MARKED}
${SAY_OUTPUT}
id=$1 first=$2 max=$3
say_exit() {
  read -r line 2>/dev/null <"$file.exit"
  case $line in 'exit '*' end'*) ;; *) return ;; esac
  echo "$line"
  say_output
  exit 0
}
say_running() { echo running; exit 0; }
if ! find_claim; then echo absent; exit 0; fi
say_exit
read -r pid start 2>/dev/null <"$file.claim"
if [ -n "$start" ]; then
  [ "$(born "$pid")" = "$start" ] && say_running
else
  each_marked say_running
fi
say_exit
echo dead`;

/** Arguments: attempt, the first byte that is wanted (from 1 on), how many. */
export const OUTPUT = `${FIND}
${SAY_OUTPUT}
id=$1 first=$2 max=$3
find_claim && say_output`;

/**
 * Argument: attempt. Kills everything that carries the mark, and the whole session of the attempt's shell while that lives: some
 * programs write over their environment. What has not begun yet never will: its claim is taken. Prints "gone" or "left".
 */
export const END = `${BORN}
${FIND}
${CLAIM}
${MARKED}
id=$1
strike() { found=1; kill -9 "$1" 2>/dev/null; }
session() {
  for process in /proc/[0-9]*; do
    read -r line 2>/dev/null <"$process/stat" || continue
    set -- \${line##*) }
    [ "$4" = "$pid" ] && [ "$1" != Z ] && strike "\${process#/proc/}"
  done
}
pid=
if ! claim revoked && find_claim; then
  read -r pid start 2>/dev/null <"$file.claim"
  [ -n "$start" ] && [ "$(born "$pid")" = "$start" ] || pid=
fi
round=0
while [ $round -lt 20 ]; do
  found=
  [ -n "$pid" ] && session
  each_marked strike
  [ -z "$found" ] && echo gone && exit 0
  round=$((round + 1))
  sleep 0.1 2>/dev/null || sleep 1
done
echo left`;

/**
 * Argument: attempt. Takes its files away. The claim of one that never began stays: without it, it might still begin. Prints "cleared"
 * where nothing is left to be done.
 */
export const CLEAR = `${FIND}
id=$1
find_claim || { echo cleared; exit 0; }
read -r pid start 2>/dev/null <"$file.claim"
rm -f "$file.out" "$file.exit" || exit 1
if [ -n "$start" ]; then rm -f "$file.claim" || exit 1; fi
echo cleared`;

/** How a script is given to the shell of an image; `keepwell` is its name in a list of processes. */
export const shell = (script: string, ...args: readonly string[]): readonly string[] => [
  'sh',
  '-c',
  script,
  'keepwell',
  ...args,
];
