/** What is said to ssh and to the other machine, and what their answers mean. */
import { AppError } from '../../base/pure/errors.ts';
import { fieldsOf, parseJson } from '../../base/pure/json.ts';
import type { Host } from './host.ts';

/** An idle connection is kept for this long: the next command needs no new one. */
const PERSIST_S = 60;
/** A connection over which nothing comes back is given up after three times this long. */
const ALIVE_S = 5;

/** The files of one connection, in a directory that is ours alone. */
export interface Ends {
  /** Where the ssh that holds the connection takes orders. */
  readonly control: string;
  /** The socket here that leads to the daemon there. */
  readonly local: string;
}

/** Runs SCRIPT there, over the connection that is there or a new one, which then stays for others. Nothing but host, user and port is the user's. */
export const askArguments = ({ user, host, port }: Host, { control }: Ends, timeoutMs: number): string[] => [
  ...['-T', '-a', '-x', '-S', control],
  ...options({
    ControlMaster: 'auto',
    ControlPersist: PERSIST_S,
    BatchMode: 'yes',
    ConnectTimeout: Math.max(1, Math.ceil(timeoutMs / 1_000)),
    ConnectionAttempts: 1,
    ServerAliveInterval: ALIVE_S,
    ServerAliveCountMax: 3,
    StreamLocalBindUnlink: 'yes',
    StreamLocalBindMask: '0177',
    // What the user's ~/.ssh/config may want for sessions at the keyboard.
    ClearAllForwardings: 'yes',
    ForkAfterAuthentication: 'no',
    PermitLocalCommand: 'no',
    RemoteCommand: 'none',
    LogLevel: 'ERROR',
  }),
  ...(port === null ? [] : ['-p', String(port)]),
  ...(user === null ? [] : ['-l', user]),
  ...['--', host, `sh -c '${SCRIPT}'`],
];

/** Asks for the way to that socket, over the connection that is there; a second time changes nothing. */
export const forwardArguments = ({ host }: Host, { control, local }: Ends, socket: string): string[] => [
  ...['-F', 'none', '-S', control, '-O', 'forward', '-L', `${local}:${socket}`, '--', host],
];

const options = (values: Readonly<Record<string, string | number>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ['-o', `${name}=${value}`]);

/** Before it, others may have written: the files that a shell reads when it starts. */
const MARK = 'keepwell-remote';
const NO_FOLDER = 41;
const NO_PROJECT = 42;
const NO_DAEMON = 43;
const FORBIDDEN = 44;

/**
 * Finds the daemon of a project; the path comes over its standard input, as data. Any login shell hands it on to sh as it is, so it
 * is one line, without single quotes, backslashes and exclamation marks.
 */
const SCRIPT = [
  'IFS= read -r p',
  `case "$p" in "") p=$HOME;; "~/"*) p=$HOME/\${p#??};; esac`,
  `echo; echo ${MARK}`,
  `cd -- "$p" 2>/dev/null || exit ${NO_FOLDER}`,
  `if [ -d .keepwell ]; then cd .keepwell 2>/dev/null || exit ${FORBIDDEN}; elif [ -f project.json ]; then :; else exit ${NO_PROJECT}; fi`,
  `[ -r . ] || exit ${FORBIDDEN}`,
  `j=$(cat daemon.json 2>/dev/null) || exit ${NO_DAEMON}`,
  `n=\${j#*pid?:}`,
  `n=\${n%%,*}`,
  `if [ -d "/proc/\${n# }" ]; then echo alive; else echo dead; fi`,
  'cat daemon.json',
].join('; ');

/** A daemon on another machine. */
export interface Found {
  readonly pid: number;
  readonly socket: string;
  readonly version: string;
}

/** How the call of ssh ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The daemon there; throws why there is none, in the words of the table of errors. `name`: what the user calls the host. */
export function daemonThere({ code, stdout, stderr }: Ended, { path }: Host, name: string): Found {
  const lines = stdout.split('\n');
  const mark = lines.indexOf(MARK);
  if (mark < 0) throw sshError(code, stderr, name);
  const project = path === '' ? 'the home folder' : path;
  const about = { host: name, project };
  if (code === NO_FOLDER) throw new AppError('HOST_NO_PROJECT', { ...about, problem: `there is no folder ${project}` });
  if (code === NO_PROJECT)
    throw new AppError('HOST_NO_PROJECT', { ...about, problem: `no project has ever run in ${project}` });
  if (code === FORBIDDEN) throw new AppError('HOST_FORBIDDEN', about);
  if (code === NO_DAEMON || lines[mark + 1] === 'dead') throw new AppError('HOST_NO_DAEMON', about);
  const { pid, socket, version } = fieldsOf(parseJson(lines.slice(mark + 2).join('\n'))) ?? {};
  if (typeof pid === 'number' && typeof socket === 'string' && typeof version === 'string') {
    requireUsable(socket, name);
    return { pid, socket, version };
  }
  throw new AppError('HOST_UNREACHABLE', {
    host: name,
    problem: lastLine(stderr) || 'what it answered makes no sense',
  });
}

/** sockaddr_un holds 108 bytes with the closing NUL; a colon or a line break would end the path in the argument of ssh. */
const MAX_SOCKET_PATH = 107;

function requireUsable(socket: string, host: string): void {
  const isLong = encodeURIComponent(socket).replace(/%../g, '.').length > MAX_SOCKET_PATH;
  if (!isLong && /^\/[^:\p{Cc}]+$/u.test(socket)) return;
  throw new AppError('HOST_SOCKET_UNUSABLE', {
    host,
    socket,
    problem: isLong ? `it is longer than ${MAX_SOCKET_PATH} bytes` : 'it has a colon or a control character in it',
  });
}

/** ssh is not translated: these are its words everywhere. */
export function sshError(code: number | null, stderr: string, host: string): AppError {
  const problem = lastLine(stderr) || `ssh ended with ${code === null ? 'a signal' : `code ${code}`} and no word`;
  const has = (words: RegExp) => words.test(stderr);
  if (has(/REMOTE HOST IDENTIFICATION HAS CHANGED/)) return new AppError('HOST_KEY_CHANGED', { host });
  if (has(/Host key verification failed|host key is known/)) return new AppError('HOST_KEY_UNKNOWN', { host });
  if (has(/Permission denied|Too many authentication failures/))
    return new AppError('HOST_LOGIN_REFUSED', { host, problem });
  if (has(/Could not resolve hostname/)) return new AppError('HOST_UNKNOWN', { host, problem });
  return new AppError('HOST_UNREACHABLE', { host, problem });
}

const MAX_SHOWN = 300;
const lastLine = (text: string): string =>
  (text.trim().split('\n').at(-1) ?? '').trim().replace(/\.$/, '').slice(0, MAX_SHOWN);
