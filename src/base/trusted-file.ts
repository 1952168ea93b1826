/**
 * Whether a configuration that was found, and not named, may be used: whoever can write it says what is run. So it must be ours or
 * root's, and nobody else may be able to change it or to put another in its place; as with git and sudo.
 */
import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Asker {
  readonly uid: number;
  /** Its groups. */
  readonly groups: readonly number[];
  /** With sudo: who called it. */
  readonly caller: { readonly uid: number; readonly gid: number } | null;
}

type Env = Readonly<Record<string, string | undefined>>;

export function asker(env: Env): Asker {
  const uid = process.geteuid?.() ?? 0;
  const [callerUid, callerGid] = [numberIn(env['SUDO_UID']), numberIn(env['SUDO_GID'])];
  const caller = uid === 0 && callerUid !== null && callerGid !== null ? { uid: callerUid, gid: callerGid } : null;
  return { uid, groups: [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])], caller };
}

const numberIn = (text: string | undefined): number | null => (/^\d{1,10}$/.test(text ?? '') ? Number(text) : null);

/** Why it is not to be trusted, as the end of a sentence; null: it is. */
export function distrust(file: string, who: Asker): string | null {
  const dir = dirname(file);
  const found = problemOf('it', lstatSync(file), who) ?? problemOf('it', statSync(file), who);
  if (found !== null) return found;
  const folder = statSync(dir);
  const isSticky = (folder.mode & 0o1000) !== 0;
  // In /tmp everybody may make files, but nobody can touch those of others.
  const folderProblem = isSticky && isOurs(folder.uid, who) ? null : problemOf(`the folder ${dir}`, folder, who);
  if (folderProblem !== null) return folderProblem;
  // There others may put their own .env beside it.
  const dotenv = isSticky ? lstatSync(join(dir, '.env'), { throwIfNoEntry: false }) : undefined;
  return dotenv === undefined ? null : problemOf(`${join(dir, '.env')}, which belongs to it,`, dotenv, who);
}

function problemOf(what: string, found: Stats, who: Asker): string | null {
  const { uid, gid, mode } = found;
  if (!isOurs(uid, who)) return `${what} belongs to user ${uid}, and you are ${who.uid}`;
  if (found.isSymbolicLink()) return null; // it has no permissions of its own
  if ((mode & 0o002) !== 0) return `${what} can be written by everybody`;
  const isOwnGroup = gid === 0 || gid === who.caller?.gid || (who.uid !== 0 && who.groups.includes(gid));
  return (mode & 0o020) !== 0 && !isOwnGroup ? `${what} can be written by group ${gid}` : null;
}

const isOurs = (owner: number, { uid, caller }: Asker): boolean =>
  owner === uid || owner === 0 || owner === caller?.uid;
