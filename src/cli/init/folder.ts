/** A real folder for those who look for programs in it. Reads no more than a configuration could use. */
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Folder } from '../../config/starter/draft.ts';

const MAX_BYTES = 1_000_000;

export function openFolder(path: string): Folder {
  return {
    name: basename(resolve(path)),
    has: (file) => existsSync(join(path, file)),
    read: (file) => readText(join(path, file)),
  };
}

/** Never waits: a named pipe called Procfile must not hold us up. */
function readText(path: string): string | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > MAX_BYTES) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor));
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
