/** As whom a command is to run: looked up at each start, and refused in words when that cannot be done. */

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { errorCode, meansGone } from '../../../base/pure/errno.ts';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { Confinement } from '../../../supervision/ports/driver.ts';
import { passing, permanent } from '../command/spawn-problem.ts';
import { has } from '../limits/privileges.ts';
import type { Tools } from '../shim/tools.ts';

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

/** How one account becomes another: with setpriv(1), or by the native shim itself. */
export type Way = Pick<Tools, 'setpriv'> | 'native';

/** Null: as the daemon itself. */
export function accountOf(wanted: Wanted, way: Way): Account | null | SpawnProblem {
  const account = lookUp(wanted);
  if (account === null || 'heals' in account) return account;
  const own = { uid: process.geteuid?.(), gid: process.getegid?.() };
  const isOwn = account.uid === own.uid && account.gid === own.gid;
  if (!has('setuid') || !has('setgid')) return isOwn ? null : notAllowed(account, own.uid);
  return way !== 'native' && way.setpriv === null ? NO_SETPRIV : account;
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

// Who is who on this machine. The two files are read first, because that costs nothing; others (LDAP and the like) are asked through
// getent(1), with a limit, since everything waits for the answer.

export interface UserEntry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
}

const ANSWER_LIMIT_MS = 1_000;
/** Probes ask again and again; what is not in the files changes rarely. */
const KEPT_MS = 60_000;

type Database = 'passwd' | 'group';

/** By name, or by number. Null when there is none; throws when nobody answers. */
export function findUser(key: string): UserEntry | null {
  const fields = findEntry('passwd', key);
  if (fields === null) return null;
  const [name = '', , uid, gid, , home = '', shell = ''] = fields;
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/', shell };
}

export function findGroupId(key: string): number | null {
  const fields = findEntry('group', key);
  return fields === null ? null : Number(fields[2]);
}

/** Supplementary groups as far as the file knows them: enough for a first look, not for a last word. */
export function knownGroups(user: string): readonly number[] {
  return readEntries('group')
    .filter(([, , , members = '']) => members.split(',').includes(user))
    .map(([, , gid]) => Number(gid));
}

/** All groups of an account, as initgroups(3) would set them; null: those of the daemon stay. */
export function groupsOf({ entry, keepsUser, label }: Account): readonly number[] | null | SpawnProblem {
  if (keepsUser) return null;
  if (entry === null) return [];
  return orProblem(label, () => allGroups(entry));
}

const kept = new Map<string, { readonly at: number; readonly files: string; readonly groups: readonly number[] }>();

/** id(1) asks whoever knows of groups on this machine, not only the file; its answer is kept for as long as the files are the same. */
function allGroups({ name, gid }: UserEntry): readonly number[] {
  const files = ['/etc/passwd', '/etc/group'].map(version).join(' ');
  const known = kept.get(name);
  if (known?.files === files && performance.now() - known.at < KEPT_MS) return known.groups;
  const { error, status, stdout } = run('id', ['-G', '--', name]);
  if (error && errorCode(error) !== 'ENOENT') throw error;
  const groups = status === 0 ? stdout.trim().split(' ').map(Number) : [gid, ...knownGroups(name)];
  kept.set(name, { at: performance.now(), files, groups });
  return groups;
}

function version(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '-' : `${found.ino}:${found.size}:${found.mtimeMs}`;
}

export const isNumber = (key: string): boolean => /^\d+$/.test(key);

function findEntry(database: Database, key: string): readonly string[] | null {
  const column = isNumber(key) ? 2 : 0;
  const value = isNumber(key) ? String(Number(key)) : key;
  return readEntries(database).find((fields) => fields[column] === value) ?? ask(database, value);
}

function readEntries(database: Database): readonly (readonly string[])[] {
  try {
    const lines = readFileSync(`/etc/${database}`, 'utf8').split('\n');
    return lines.map((line) => line.split(':')).filter((fields) => fields.length >= 4);
  } catch (error) {
    if (meansGone(error)) return []; // a machine may have no such file
    throw error;
  }
}

const answers = new Map<string, { readonly at: number; readonly fields: readonly string[] | null }>();

function ask(database: Database, value: string): readonly string[] | null {
  const known = answers.get(`${database} ${value}`);
  if (known && performance.now() - known.at < KEPT_MS) return known.fields;
  const { error, status, stdout } = run('getent', [database, value]);
  if (error && errorCode(error) !== 'ENOENT') throw error; // without getent the files are all there is
  const line = status === 0 ? stdout.split('\n')[0] : undefined;
  const fields = line ? line.split(':') : null;
  answers.set(`${database} ${value}`, { at: performance.now(), fields });
  return fields;
}

const run = (program: string, args: readonly string[]) =>
  spawnSync(program, args, {
    cwd: '/',
    encoding: 'utf8',
    timeout: ANSWER_LIMIT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
