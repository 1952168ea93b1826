/** Reading and writing the files of tickets: whole or not at all, and never through a link. */
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Whatever is longer was not written by us alone. */
const MAX_BYTES = 1024 * 1024;
/** They quote logs: nobody but their owner reads them, unless he lets others. */
const FILE_MODE = 0o600;

export type Found =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'odd' };

/** odd: something is there that is no file of reasonable size. */
export async function readText(path: string): Promise<Found> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MAX_BYTES) return { kind: 'odd' };
    return { kind: 'text', text: await file.readFile('utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'none' };
    if (code === 'ELOOP' || code === 'EISDIR' || code === 'ENXIO') return { kind: 'odd' };
    throw error;
  }
}

/** In one step, and on disk when it resolves. `isNew`: fails with EEXIST when there is something of this name. */
export async function writeWhole(dir: string, name: string, text: string): Promise<void> {
  const path = join(dir, name);
  const draft = join(dir, `.${name}.tmp`);
  try {
    await rm(draft, { force: true }); // of one of us that was killed
    {
      await using file = await open(draft, 'wx', FILE_MODE);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await using folder = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
  await folder.sync();
}

export async function makeDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
}

/** Names of files that begin so; none when there is no directory. */
export async function namesWith(dir: string, prefix: string): Promise<readonly string[]> {
  try {
    return (await readdir(dir)).filter((name) => name.startsWith(prefix) && name.endsWith('.md')).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
