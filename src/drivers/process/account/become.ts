/**
 * The way from root to the account of a component, within one process id: setpriv(1), then a few words of shell, then the rest.
 * Until then nothing of the component's environment is seen by anything that runs as root: who may write its env file could
 * otherwise have a library of his own loaded into it. So the environment travels in a file without a name.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fchownSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isShellName } from '../command/spawn-problem.ts';
import { UNFINISHED } from '../run-dir.ts';
import type { Tools } from '../shim/tools.ts';
import type { Account } from './account.ts';

type Env = Readonly<Record<string, string>>;

/** Where the file of the environment is open. */
export const ENVIRONMENT_FD = 3;

/** All that programs on the way have. */
export const BARE_ENVIRONMENT: Env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/** The command follows as arguments. */
const ENTER = `. /proc/self/fd/${ENVIRONMENT_FD} || exit 125
exec "$@" ${ENVIRONMENT_FD}<&-`;

/** What stands in front of a command. */
export function becoming(account: Account, { setpriv, sh }: Pick<Tools, 'setpriv' | 'sh'>): readonly string[] {
  return [...switching(account, setpriv), sh, '-c', ENTER, 'keepwell'];
}

/** For a command that needs no environment. */
export function switching({ uid, gid, entry, keepsUser }: Account, setpriv: Tools['setpriv']): readonly string[] {
  const user = keepsUser ? [] : [`--reuid=${uid}`];
  const groups = keepsUser ? '--keep-groups' : entry === null ? '--clear-groups' : '--init-groups';
  return [setpriv ?? 'setpriv', ...user, `--regid=${gid}`, groups, '--'];
}

/**
 * A descriptor of the environment, written as shell commands; to be closed by the caller. It belongs to the account, because it
 * is opened a second time by it.
 */
export function openEnvironment(env: Env, { uid, gid }: Account, dir: string, tools: Pick<Tools, 'env'>): number {
  const path = join(dir, `${UNFINISHED}env-${randomBytes(8).toString('hex')}`);
  const fd = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path); // before there is anything in it
    const bytes = Buffer.from(environmentText(env, tools));
    // At a position, because whoever reads it next begins at the beginning; and to its end, because the kernel may take less at a time.
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
    fchownSync(fd, uid, gid);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Variables that no shell can have go through env(1), see `odd-variables.ts`; so do those that bash keeps for itself. */
export function environmentText(env: Env, tools: Pick<Tools, 'env'>): string {
  const entries = Object.entries(env);
  const plain = entries.filter(([name]) => isShellName(name) && !isKept(name));
  const odd = entries.filter(([name]) => !isShellName(name) || isKept(name));
  return [
    ...(env['PATH'] === undefined ? ['unset PATH'] : []),
    ...plain.map(([name, value]) => `export ${name}=${quoted(value)}`),
    ...(odd.length === 0
      ? []
      : [`set -- ${[tools.env, ...odd.map(([name, value]) => `${name}=${value}`)].map(quoted).join(' ')} "$@"`]),
    '',
  ].join('\n');
}

/** Read-only in bash, changed by it all the time, or with a meaning to the shell's own parsing of options. */
const KEPT =
  /^(?:UID|EUID|PPID|GROUPS|SHELLOPTS|BASH.*|RANDOM|SRANDOM|SECONDS|EPOCH.*|LINENO|HISTCMD|DIRSTACK|FUNCNAME|OPTIND|OPTARG|IFS|_)$/;
const isKept = (name: string): boolean => KEPT.test(name);

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
