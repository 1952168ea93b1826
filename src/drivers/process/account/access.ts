/** What may be entered and executed, seen by the daemon itself or by the account a command is to run as. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { machineFault } from '../../../base/pure/errno.ts';
import type { Tools } from '../shim/tools.ts';
import { type Account, knownGroups } from './account.ts';
import { BARE_ENVIRONMENT, switching } from './become.ts';

/** What is in the way, as the end of a sentence; null: nothing. */
export interface FileAccess {
  toExecute(path: string): string | null;
  toEnter(directory: string): string | null;
}

export const OWN_ACCESS: FileAccess = {
  toExecute: (path) => (mayExecute(path) ? null : 'is not executable (chmod +x?)'),
  toEnter: (directory) => (mayExecute(directory) ? null : 'may not be entered'),
};

function mayExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (machineFault(error)) throw error;
    return false;
  }
}

const CHECK_LIMIT_MS = 1_000;

/**
 * Permission bits are looked at first. They do not know of access control lists and of groups that only LDAP knows, so their
 * "no" is made sure of by a process that really runs as that account; their "yes" may be wrong too, and then the kernel says so.
 */
export function accessOf(account: Account, { setpriv, sh }: Pick<Tools, 'setpriv' | 'sh'>): FileAccess {
  const groups = new Set([
    account.gid,
    ...(account.entry ? [account.entry.gid, ...knownGroups(account.entry.name)] : []),
  ]);
  const isOpen = (path: string): boolean => {
    const { mode, uid, gid } = statSync(path);
    if (account.uid === 0) return (mode & 0o111) !== 0;
    return ((mode >> (uid === account.uid ? 6 : groups.has(gid) ? 3 : 0)) & 1) === 1;
  };
  const isRefused = (script: string, path: string): boolean => {
    const argv = [...switching(account, setpriv).slice(1), sh, '-c', script, path];
    const options = { cwd: '/', env: BARE_ENVIRONMENT, timeout: CHECK_LIMIT_MS, stdio: 'ignore' } as const;
    return spawnSync(setpriv ?? 'setpriv', argv, options).status === 1;
  };
  const { label } = account;
  return {
    toEnter: (directory) => {
      const closed = firstClosed([...parents(directory), directory], isOpen);
      if (closed === null || !isRefused('cd "$0" || exit 1', directory)) return null;
      return `may not be entered by ${label}${closed === directory ? '' : `: ${closed} is closed to it`}`;
    },
    toExecute: (path) => {
      const closed = firstClosed([...parents(path), path], isOpen);
      if (closed === null || !isRefused('test -x "$0" || exit 1', path)) return null;
      return `may not be executed by ${label}${closed === path ? '' : `: ${closed} is closed to it`}`;
    },
  };
}

function firstClosed(paths: readonly string[], isOpen: (path: string) => boolean): string | null {
  try {
    return paths.find((path) => !isOpen(path)) ?? null;
  } catch {
    return null; // gone meanwhile: the start itself will tell
  }
}

/** Every directory on the way, as written and as it really is. */
function parents(path: string): readonly string[] {
  const way = (from: string): string[] => (dirname(from) === from ? [] : [...way(dirname(from)), dirname(from)]);
  try {
    return [...new Set([...way(path), ...way(realpathSync(path))])];
  } catch {
    return way(path);
  }
}
