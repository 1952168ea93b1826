/**
 * Opens only what is really a file with that very name: something else in its place (a link, a FIFO, a directory) is never read,
 * written or cut, because it may be anybody's.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, unlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errorCode } from '../../base/pure/errno.ts';

const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

export const FILE_MODE = 0o600;

/** Without O_NONBLOCK, opening a FIFO would wait for whoever is at its other end. */
const SAFELY = O_NOFOLLOW | O_NONBLOCK;

const FLAGS = {
  read: O_RDONLY | SAFELY,
  /** What is there, also to be cut. */
  change: O_RDWR | SAFELY,
  append: O_WRONLY | O_APPEND | O_CREAT | SAFELY,
  /** A new file, never one that is there. */
  make: O_RDWR | O_CREAT | O_EXCL | SAFELY,
} as const;

export type Purpose = keyof typeof FLAGS;

const notAFile = (path: string): Error => new Error(`${path} is not a regular file`);

export async function openFile(path: string, purpose: Purpose): Promise<FileHandle> {
  const handle = await open(path, FLAGS[purpose], FILE_MODE);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw notAFile(path);
}

export function openFileSync(path: string, purpose: Purpose): number {
  const fd = openSync(path, FLAGS[purpose], FILE_MODE);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notAFile(path);
}

/** Null: nothing is there. Throws when that is not known just now. */
export function look(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** True when it is gone, or was never there. */
export function remove(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
