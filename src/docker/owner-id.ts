/**
 * Whose containers are ours: an id of this home directory that stays, also when the directory is moved. A copy of it gets one of its
 * own, or it would clear away the containers of the original; it is known by the directory's number in the file system.
 */

import { randomBytes } from 'node:crypto';
import { linkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NotOursError, readRegularFile, writeNewFile } from '../base/regular-file.ts';

const ID_PATTERN = /^([0-9a-f]{16}) ([0-9]+)$/;

const ID_BYTES = 8;

/** Null: nobody needed one yet, so nothing carries it. */
export function knownOwnerId(home: string): string | null {
  try {
    return read(join(home, 'owner'), `${statSync(home).ino}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Made at the first call. Of several that make one at once, one wins and all get that one. */
export function ownerId(home: string): string {
  const path = join(home, 'owner');
  const directory = `${statSync(home).ino}`;
  const known = read(path, directory);
  if (known !== null) return known;
  const made = `${path}.${process.pid}.tmp`;
  writeNewFile(made, `${randomBytes(ID_BYTES).toString('hex')} ${directory}\n`);
  try {
    // Half a file, from a disk that was full; or that of another directory.
    if (read(path, directory) === null) rmSync(path, { force: true });
    linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true });
  }
  const id = read(path, directory);
  if (id === null) throw new Error(`${path} cannot be read`);
  return id;
}

function read(path: string, directory: string): string | null {
  try {
    const [, id, of] = ID_PATTERN.exec(readRegularFile(path).trim()) ?? [];
    return id !== undefined && of === directory ? id : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof NotOursError) return null;
    throw error;
  }
}
