/** Where a project keeps its state, and how to find it from a working directory. Light: the CLI loads it on every call. */
import { accessSync, constants, existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { AppError } from './pure/errors.ts';
import { didYouMean } from './pure/suggest.ts';
import { readRegularFile } from './regular-file.ts';

export const CONFIG_NAMES = ['keepwell.yaml', 'keepwell.yml', 'keepwell.json'] as const;

export interface Project {
  /** Absolute, in the order given: later files over earlier ones. */
  readonly files: readonly string[];
  /** `.keepwell` beside the first file, or KEEPWELL_HOME. */
  readonly home: string;
  /** Configurations beside the one that is used, which are not read; absent: the files were named. */
  readonly ignored?: readonly string[];
}

export interface HomePaths {
  readonly home: string;
  readonly db: string;
  readonly lock: string;
  readonly daemonJson: string;
  readonly daemonLog: string;
  readonly projectJson: string;
  readonly applied: string;
  readonly desired: string;
  readonly logs: string;
  /** What agents wrote. */
  readonly agentLogs: string;
  readonly runs: string;
  /** Records of runs that are containers. */
  readonly containers: string;
  readonly trash: string;
  /** One file for each command that `keepwell run` keeps. */
  readonly kept: string;
  /** Of the page. */
  readonly token: string;
}

export interface Where {
  readonly cwd: string;
  /** The -f options. Without any, those of KEEPWELL_FILE, with colons between them. */
  readonly files: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The configuration files and the state directory, without reading either. */
export function findProject({ cwd, files: asked, env }: Where): Project {
  const files = asked.length > 0 ? asked : (env['KEEPWELL_FILE'] ?? '').split(':').filter(Boolean);
  const found = files.length > 0 ? files.map((file) => resolve(cwd, file)) : [findUpwards(cwd, env)];
  const projectDir = dirname(found[0]!);
  const home = env['KEEPWELL_HOME'] ? resolve(cwd, env['KEEPWELL_HOME']) : ownHome(projectDir);
  const missing = found.find((file) => !existsSync(file) && !isLeftOut(file, home));
  if (missing !== undefined) throw new AppError('CONFIG_MISSING', { file: missing, suggestion: similarFile(missing) });
  refuseForbidden(home);
  refuseForeign(home, projectDir);
  const ignored =
    files.length > 0
      ? []
      : CONFIG_NAMES.map((name) => join(projectDir, name)).filter((file) => file !== found[0] && existsSync(file));
  return { files: found, home, ignored };
}

/** Says that a project began with a kept command and may have no configuration. Any other one whose file is gone is a mistake. */
export const aloneNote = (home: string): string => join(homePaths(home).kept, 'alone');

/** The configuration is where one would be looked for, and empty. */
export const isLeftOut = (file: string, home: string): boolean =>
  basename(file) === CONFIG_NAMES[0] && existsSync(aloneNote(home));

/** The project of a folder in which there is nothing yet: `keepwell run` makes it. */
export function newProject(cwd: string, env: Where['env']): Project {
  const home = env['KEEPWELL_HOME'] ? resolve(cwd, env['KEEPWELL_HOME']) : ownHome(cwd);
  return { files: [join(projectOf(home) ?? cwd, CONFIG_NAMES[0])], home };
}

/** " Did you mean "prod.yaml"?", from what lies in the same folder. */
function similarFile(file: string): string {
  try {
    return didYouMean(
      basename(file),
      readdirSync(dirname(file)).filter((name) => /\.(?:ya?ml|json)$/.test(name)),
    );
  } catch {
    return '';
  }
}

/** What cannot be looked into must not be mistaken for what is not there. */
function refuseForbidden(home: string): void {
  try {
    accessSync(home, constants.R_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw new AppError('HOME_FORBIDDEN', { home });
  }
}

/**
 * KEEPWELL_HOME must not mix two projects: the directory belongs to the project that used it first. The one beside the configuration
 * came along with its folder: a folder that was moved keeps it, in a copy it would speak of the runs of the original.
 */
export function refuseForeign(home: string, projectDir: string): void {
  const owner = projectOf(home);
  if (owner === null || owner === projectDir) return;
  if (home !== ownHome(projectDir)) throw new AppError('HOME_OF_ANOTHER_PROJECT', { home, owner, asked: projectDir });
  // One that was moved while its daemon ran is the same directory; the daemon has made itself a new one at the old place.
  if (isOtherHome(ownHome(owner), home) && !isSameDirectory(home))
    throw new AppError('HOME_COPIED', { home, owner, asked: projectDir });
}

const ownHome = (projectDir: string): string => join(projectDir, '.keepwell');

/** Whether this is the directory that was made here or elsewhere, and no copy of it: see owner-id.ts. */
function isSameDirectory(home: string): boolean {
  try {
    const [, inode] = /^[0-9a-f]{16} (\d+)\s*$/.exec(readRegularFile(join(home, 'owner'))) ?? [];
    return inode === `${statSync(home).ino}`;
  } catch {
    return false;
  }
}

/** Whether a project is at the old place, and not this one under another name: a link, a mount. */
function isOtherHome(old: string, home: string): boolean {
  if (projectOf(old) !== dirname(old)) return false;
  const [there, here] = [statSync(old), statSync(home)];
  return there.ino !== here.ino || there.dev !== here.dev;
}

/** The folder of the first configuration file of the project that uses this state directory; null: none yet. */
export function projectOf(home: string): string | null {
  try {
    return (JSON.parse(readRegularFile(homePaths(home).projectJson)) as { project_dir: string }).project_dir;
  } catch {
    return null;
  }
}

/** A file that somebody else could have put there is not run unless it is named: the search goes on above nobody's but our own. */
function findUpwards(cwd: string, env: Where['env']): string {
  const trusted = (file: string): void => {
    const problem = distrust(file, asker(env));
    if (problem !== null) throw new AppError('CONFIG_UNTRUSTED', { file, problem });
  };
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const file = CONFIG_NAMES.map((name) => join(dir, name)).find((path) => existsSync(path));
    if (file !== undefined) {
      trusted(file);
      return file;
    }
    const note = aloneNote(ownHome(dir));
    if (existsSync(note)) {
      trusted(note);
      return join(dir, CONFIG_NAMES[0]);
    }
    if (dir === dirname(dir)) break;
  }
  const elsewhere = newProject(cwd, env);
  if (existsSync(aloneNote(elsewhere.home))) return elsewhere.files[0]!;
  throw new AppError('CONFIG_NOT_FOUND', { where: cwd });
}

export const defaultDb = (home: string): string => join(home, 'keepwell.db');
/** Says where the database is when it is not there. */
export const storeNote = (home: string): string => join(home, 'store-path');

function dbOf(home: string): string {
  try {
    const noted = readRegularFile(storeNote(home)).trim();
    return isAbsolute(noted) ? noted : defaultDb(home);
  } catch {
    return defaultDb(home);
  }
}

export function homePaths(home: string): HomePaths {
  const at = (name: string) => join(home, name);
  return {
    home,
    db: dbOf(home),
    lock: at('lock.db'),
    daemonJson: at('daemon.json'),
    daemonLog: at('daemon.log'),
    projectJson: at('project.json'),
    applied: at('applied.json'),
    desired: at('desired.json'),
    logs: at('logs'),
    agentLogs: join(home, 'logs', 'agents'),
    runs: at('runs'),
    containers: at('containers'),
    trash: at('trash'),
    kept: at('kept'),
    token: at('token'),
  };
}

/** sockaddr_un holds 108 bytes with the closing NUL. */
const MAX_SOCKET_PATH = 107;

/** Where the socket of this home belongs: inside it, or under a run-time directory of the user when that path is too long. */
export function socketPath(home: string, env: Where['env'], uid: number): string {
  const plain = join(home, 'keepwell.sock');
  if (Buffer.byteLength(plain) <= MAX_SOCKET_PATH) return plain;
  const runtime = env['XDG_RUNTIME_DIR'];
  const base = runtime && existsSync(runtime) ? runtime : uid === 0 ? '/run' : '';
  const { createHash } = process.getBuiltinModule('node:crypto'); // few paths are so long, and loading it takes every call two milliseconds
  const short = join(base, `keepwell-${createHash('sha256').update(home).digest('hex').slice(0, 16)}.sock`);
  if (base === '' || Buffer.byteLength(short) > MAX_SOCKET_PATH) {
    throw new AppError('SOCKET_PATH_TOO_LONG', { path: plain, length: Buffer.byteLength(plain) });
  }
  return short;
}

/** Who holds the project, as written by the daemon when it took the lock. A crash leaves it behind, a clean end removes it. */
export interface DaemonFile {
  readonly pid: number;
  /** Start time of that pid from /proc, so that a recycled pid is not mistaken for the daemon. */
  readonly start_time: string;
  readonly boot_id: string;
  readonly version: string;
  readonly started_at: string;
  readonly socket: string;
  readonly files: readonly string[];
  readonly guardian_pid: number | null;
  /** The systemd unit that runs it; older versions did not say. */
  readonly service?: string | null;
  /** It is a part of another program: that one lives on when it ends. */
  readonly hosted: boolean;
}

/** Where the daemon of this home listens, or would. One whose project was moved has its socket at the new place, too. */
export function daemonSocket(home: string, env: Where['env'], uid: number): string {
  const known = readDaemonFile(homePaths(home))?.socket;
  return known !== undefined && existsSync(known) ? known : socketPath(home, env, uid);
}

export function readDaemonFile(paths: HomePaths): DaemonFile | null {
  try {
    return JSON.parse(readRegularFile(paths.daemonJson)) as DaemonFile;
  } catch {
    return null; // not there, or half a file from a disk that was full: both mean "nobody we know of"
  }
}

// Whether a configuration that was found, and not named, may be used: whoever can write it says what is run. So it must be ours or root's,
// and nobody else may be able to change it or to put another in its place; as with git and sudo.

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
