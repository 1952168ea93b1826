/**
 * Who is who on this machine. The two files are read first, because that costs nothing; others (LDAP and the like) are asked
 * through getent(1), with a limit, since everything waits for the answer.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { meansGone } from '../../../base/pure/errno.ts';

export interface UserEntry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
}

const GETENT_LIMIT_MS = 1_000;
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
  const { error, status, stdout } = spawnSync('getent', [database, value], {
    cwd: '/',
    encoding: 'utf8',
    timeout: GETENT_LIMIT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  if (error && code !== 'ENOENT') throw error; // without getent the files are all there is
  const line = status === 0 ? stdout.split('\n')[0] : undefined;
  const fields = line ? line.split(':') : null;
  answers.set(`${database} ${value}`, { at: performance.now(), fields });
  return fields;
}
