/** As whom a command is to run: looked up at each start, and refused in words when that cannot be done. */
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { Confinement } from '../../../supervision/ports/driver.ts';
import { passing, permanent } from '../command/spawn-problem.ts';
import { has } from '../limits/privileges.ts';
import type { Tools } from '../shim/tools.ts';
import { findGroupId, findUser, isNumber, type UserEntry } from './directory.ts';

type Wanted = Pick<Confinement, 'user' | 'group'>;
type Variables = Readonly<Record<string, string>>;

export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** Null: a number that belongs to nobody, so there are no groups to go with it. */
  readonly entry: UserEntry | null;
  /** Only the main group changes. */
  readonly keepsUser: boolean;
  /** For sentences: `user "app"`. */
  readonly label: string;
}

/** All but the largest one, which means "leave it as it is" to the kernel. */
const MAX_ID = 2 ** 32 - 2;

/** Null: as the daemon itself. */
export function accountOf(wanted: Wanted, tools: Pick<Tools, 'setpriv'>): Account | null | SpawnProblem {
  const account = lookUp(wanted);
  if (account === null || 'heals' in account) return account;
  const own = { uid: process.geteuid?.(), gid: process.getegid?.() };
  const isOwn = account.uid === own.uid && account.gid === own.gid;
  if (!has('setuid') || !has('setgid')) return isOwn ? null : notAllowed(account, own.uid);
  return tools.setpriv === null ? NO_SETPRIV : account;
}

/** What programs expect to find about the user they run as; none when it stays the daemon's. */
export function accountVariables({ user }: Wanted): { readonly variables: Variables } | SpawnProblem {
  if (user === undefined) return { variables: {} };
  const entry = orProblem(`user "${user}"`, () => findUser(user));
  if (entry !== null && 'heals' in entry) return entry;
  if (entry === null && !isNumber(user)) return unknown('user', user, 'useradd');
  const name = entry?.name ?? user;
  const shell = entry === null || /\/(?:nologin|false)$|^$/.test(entry.shell) ? '/bin/sh' : entry.shell;
  return { variables: { HOME: entry?.home ?? '/', USER: name, LOGNAME: name, SHELL: shell } };
}

function lookUp({ user, group }: Wanted): Account | null | SpawnProblem {
  if (user === undefined && group === undefined) return null;
  return orProblem(user === undefined ? `group "${group}"` : `user "${user}"`, () => find(user, group));
}

function orProblem<T>(who: string, look: () => T): T | SpawnProblem {
  try {
    return look();
  } catch (error) {
    return passing('account', `${who} could not be looked up: ${(error as Error).message}`);
  }
}

function find(user: string | undefined, group: string | undefined): Account | SpawnProblem {
  for (const [key, value] of Object.entries({ user, group })) {
    if (value !== undefined && isNumber(value) && Number(value) > MAX_ID) {
      return permanent('account', `${value} is no number of a ${key}: it is too large`);
    }
  }
  const gid = group === undefined ? null : (findGroupId(group) ?? (isNumber(group) ? Number(group) : null));
  if (group !== undefined && gid === null) return unknown('group', group, 'groupadd');
  if (user === undefined) {
    const uid = process.geteuid?.() ?? 0;
    return { uid, gid: gid ?? 0, entry: null, keepsUser: true, label: `group "${group}"` };
  }
  const entry = findUser(user);
  if (entry === null && !isNumber(user)) return unknown('user', user, 'useradd');
  if (entry === null && gid === null) {
    const message = `user ${user} is in no list of users, so nobody knows its group: give one with "group"`;
    return permanent('account', message);
  }
  const label = `user "${user}"`;
  return { uid: entry?.uid ?? Number(user), gid: gid ?? entry?.gid ?? 0, entry, keepsUser: false, label };
}

const unknown = (kind: 'user' | 'group', name: string, tool: string): SpawnProblem =>
  permanent('account', `there is no ${kind} "${name}" on this machine: correct "${kind}", or make it with ${tool}`);

function notAllowed({ label, keepsUser }: Account, uid: number | undefined): SpawnProblem {
  const key = keepsUser ? 'group' : 'user';
  const message = `only root can run it as ${label}, and the daemon runs as uid ${uid}: start the daemon as root, or remove "${key}"`;
  return permanent('account', message);
}

const NO_SETPRIV = permanent(
  'account',
  'running it as somebody else needs the program setpriv, which is not installed: install util-linux (on Alpine: setpriv)',
);
