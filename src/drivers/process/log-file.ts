/** The log of a run, tried before the run: opened the way the shim will. */
import { closeSync, constants, fchownSync, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { Account } from './account/account.ts';
import { passing, permanent, problemOfError } from './command/spawn-problem.ts';

/** Not blocking, because a FIFO nobody reads would hold up the shim for ever. */
const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;

export function logProblem(path: string, account: Account | null): SpawnProblem | null {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const trap = account === null ? null : trapProblem(path);
    if (trap) return permanent('log-file', trap);
    const fd = openSync(path, FLAGS | (account === null ? 0 : constants.O_NOFOLLOW), 0o600);
    try {
      if (lstatSync(path).isFile()) giveAway(fd, account);
    } finally {
      closeSync(fd);
    }
    return null;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const resources = problemOfError(error);
    if (resources.code === 'out-of-resources') return passing('out-of-resources', `${resources.message}: ${path}`);
    const why = code === 'EISDIR' ? 'is a directory' : `cannot be written (${code})`;
    return permanent('log-file', `the log file ${path} ${why}`);
  }
}

/**
 * Root opens it for somebody else, who must not be able to put something of his own choice in its place: no link, and a
 * directory in which nobody else can make one between our look and the shim's.
 */
function trapProblem(path: string): string | null {
  const dir = dirname(path);
  const { uid, mode } = lstatSync(dir);
  const own = process.geteuid?.();
  if (uid !== own && uid !== 0) return `the log directory ${dir} belongs to uid ${uid}, not to the daemon: chown it`;
  if ((mode & 0o022) !== 0) return `the log directory ${dir} can be written by others: chmod go-w ${dir}`;
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file?.isSymbolicLink()) return `the log file ${path} is a symbolic link: remove it`;
  return null;
}

/** To the one who writes it: programs open /dev/stdout and /dev/stderr by name, and then the kernel asks again who they are. */
function giveAway(fd: number, account: Account | null): void {
  const { uid, gid } = fstatSync(fd);
  const owner = account?.uid ?? 0;
  if (process.geteuid?.() === 0 && uid !== owner) fchownSync(fd, owner, gid);
}
