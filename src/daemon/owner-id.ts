/** Whose containers are ours: an id of this home directory that never changes, also when the directory is moved. */
import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ID_PATTERN = /^[0-9a-f]{16}$/;
const ID_BYTES = 8;

/** Made at the first call. Of several that make one at once, one wins and all get that one. */
export function ownerId(home: string): string {
  const path = join(home, 'owner');
  const known = read(path);
  if (known !== null) return known;
  const made = `${path}.${process.pid}.tmp`;
  writeFileSync(made, `${randomBytes(ID_BYTES).toString('hex')}\n`, { mode: 0o600, flush: true });
  try {
    if (read(path) === null) rmSync(path, { force: true }); // half a file, from a disk that was full
    linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true });
  }
  const id = read(path);
  if (id === null) throw new Error(`${path} cannot be read`);
  return id;
}

function read(path: string): string | null {
  try {
    const id = readFileSync(path, 'utf8').trim();
    return ID_PATTERN.test(id) ? id : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
