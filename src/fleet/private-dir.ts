/** A directory for the ends of our connections: whoever could write there could use them. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/pure/errors.ts';
import type { Ends } from './rules/ssh.ts';

/** Without a run-time directory of the user, or where that has so long a name that no socket can be made in it. */
const FALLBACK = '/tmp';
/** A socket path has 107 bytes at the most, and ssh makes it under a name that is 17 longer first. */
const MAX_DIR = 107 - 17 - '/0123456789abcdef.control'.length;

export interface Around {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
}

/** Makes it when it is not there. */
function privateDir({ env, uid }: Around): string {
  const own = join(env['XDG_RUNTIME_DIR'] || FALLBACK, `keepwell-ssh-${uid}`);
  const dir = Buffer.byteLength(own) <= MAX_DIR ? own : join(FALLBACK, `keepwell-ssh-${uid}`);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new AppError('SSH_DIR_UNUSABLE', { dir, problem: message });
  }
  const found = lstatSync(dir);
  const problem = !found.isDirectory()
    ? 'it is not a directory'
    : found.uid !== uid
      ? `it belongs to user ${found.uid}, you are ${uid}`
      : (found.mode & 0o077) !== 0
        ? 'others can look into it'
        : null;
  if (problem !== null) throw new AppError('SSH_DIR_UNUSABLE', { dir, problem });
  return dir;
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** All commands of one user that mean the same machine use the same connection; each project there has a socket of its own. */
export function endsOf({ machine, project }: { machine: string; project: string }, around: Around): Ends {
  const dir = privateDir(around);
  return {
    control: join(dir, `${shortHash(machine)}.control`),
    local: join(dir, `${shortHash(`${machine}\n${project}`)}.sock`),
  };
}
