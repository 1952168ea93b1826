/** A run on disk. Everything a later daemon needs to take the run over is in its directory and nowhere else. */
import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, meansGone } from '../../base/pure/errno.ts';
import type { BootId, ComponentName, RunId } from '../../base/pure/ids.ts';
import { NotOursError, readRegularFile } from '../../base/regular-file.ts';
import type { LimitView } from '../../supervision/rules/views.ts';
import { type Identity, isHidden, readCmdline } from './proc.ts';

export interface RunMeta {
  readonly v: 1;
  readonly run: RunId;
  readonly component: ComponentName;
  readonly boot_id: BootId;
  readonly spec_hash: string;
  readonly cgroup: string | null;
  readonly created_at: string;
  /** To read, after an exit 126 or 127, whether the command could not be executed at all. */
  readonly log: string;
  readonly program: string;
  /** Present when it has limits; runs of older versions have none. */
  readonly limits?: readonly LimitView[];
  /** Cgroups with limits beside that of the tree: with v1 each controller has its own. */
  readonly limit_cgroups?: readonly string[];
  /** Present when it runs as somebody else, for sentences: `user "app"`. */
  readonly account?: string;
}

/** Directories being made are hidden under this prefix, so that a half-made one is never taken for a run. */
export const UNFINISHED = '.new-';

/** Room for the longest line the shim writes; enough that recording a death needs no new disk block. */
const RESERVED = `${' '.repeat(1023)}\n`;

/** Far more than any of its files has: the longest holds a command. */
const MAX_BYTES = 1024 * 1024;

export interface RunDirParts {
  readonly meta: RunMeta;
  /** The program of a shim of sh; null: the shim is native and needs none. */
  readonly script: string | null;
  /** Puts a FIFO at a path. */
  readonly putFifo: (path: string) => void;
}

/** What run.json holds. */
export const metaText = (meta: RunMeta): string => `${JSON.stringify(meta)}\n`;

/** The directory of a new run, complete from the moment it has its name. */
export function makeRunDir(runsDir: string, { meta, script, putFifo }: RunDirParts): string {
  const made = join(runsDir, UNFINISHED + meta.run);
  try {
    mkdirSync(made, { mode: 0o700 });
    writeFileSync(join(made, 'run.json'), metaText(meta), { mode: 0o600 });
    if (script !== null) writeFileSync(join(made, 'shim.sh'), script, { mode: 0o600 });
    for (const name of ['err', 'pid', 'exit.tmp']) writeFileSync(join(made, name), RESERVED, { mode: 0o600 });
    putFifo(join(made, 'fifo'));
    const dir = join(runsDir, meta.run);
    renameSync(made, dir);
    return dir;
  } catch (error) {
    rmSync(made, { recursive: true, force: true }); // on a full disk every byte counts
    throw error;
  }
}

/** Null when it is missing or damaged, which only the loss of the whole machine can bring about. Throws when it cannot be read just now. */
export function readMeta(dir: string): RunMeta | null {
  const text = readIfThere(join(dir, 'run.json'));
  if (text === null) return null;
  try {
    const meta = JSON.parse(text) as RunMeta;
    return meta.v === 1 && typeof meta.boot_id === 'string' && typeof meta.spec_hash === 'string' ? meta : null;
  } catch {
    return null;
  }
}

/** Null when there is no such file, or something that was not written for the run. Every other failure says nothing about the run, and is thrown. */
export function readIfThere(path: string): string | null {
  try {
    return readRegularFile(path, { maxBytes: MAX_BYTES });
  } catch (error) {
    if (meansGone(error) || error instanceof NotOursError) return null;
    throw error;
  }
}

/** Who has the right to decide about a run: nobody yet, the shim that will run it, or a daemon that forbade it. */
export type Claim =
  | { readonly by: 'nobody' }
  | { readonly by: 'shim'; readonly pid: number }
  | { readonly by: 'revoked' };

/** Throws when that is not known just now. */
export function readClaim(dir: string): Claim {
  try {
    const target = readlinkSync(join(dir, 'claim'));
    return target.startsWith('shim:') ? { by: 'shim', pid: Number(target.slice(5)) } : { by: 'revoked' };
  } catch (error) {
    // EINVAL: something that is no link, and so no claim of ours.
    if (meansGone(error) || errorCode(error) === 'EINVAL') return { by: 'nobody' };
    throw error;
  }
}

/** Forbids a run that no shim has claimed. False when a shim (or an earlier daemon) was first. */
export function revoke(dir: string): boolean {
  try {
    symlinkSync('revoked', join(dir, 'claim'));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT') return true; // without a directory nobody can claim it either
    throw error;
  }
}

/** Pids get reused, so the shim must also carry this run's id among its arguments. Throws when that is not known just now. */
export function isShimOf(pid: number, run: RunId): boolean {
  try {
    return readCmdline(pid).includes(run);
  } catch (error) {
    if (isHidden(error, pid)) return false; // shims are always our own
    throw error;
  }
}

export interface Started extends Identity {
  /** Whether it joined the run's cgroup. */
  readonly inCgroup: boolean;
}

/** `PID STARTTIME cgroup|-`, as in the file `pid` and after `started` in the FIFO. */
export function parseStarted(words: string): Started | null {
  const [, pid, startTime, tree] = /^(\d+) (\d+) (cgroup|-)$/.exec(words) ?? [];
  return pid && startTime ? { pid: Number(pid), startTime, inCgroup: tree === 'cgroup' } : null;
}

/**
 * The main process of the run, or null while the shim has not told: without its newline the line is not complete. Throws when it
 * cannot be read just now.
 */
export function readStarted(dir: string): Started | null {
  const text = readIfThere(join(dir, 'pid')) ?? '';
  return parseStarted(text.slice(0, Math.max(0, text.indexOf('\n'))));
}

/** What the shell complained about before it could run anything; empty when it said nothing. */
export function readShimError(dir: string): string {
  try {
    return (readRegularFile(join(dir, 'err'), { maxBytes: MAX_BYTES }).split('\n')[0] ?? '').trim();
  } catch {
    return '';
  }
}
