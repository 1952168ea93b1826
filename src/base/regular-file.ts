/**
 * Files of ours that lie where components can reach them. A component may have put a pipe, a device, a link or gigabytes in their
 * place: that must neither hold us up nor be read without end.
 */
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { errorCode } from './pure/errno.ts';

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
const PRIVATE = 0o600;

/** More is not written into any of these. */
export const MAX_OWN_BYTES = 16 * 1024 * 1024;

/** Something is there, but it is not a file that was written here. */
export class NotOursError extends Error {
  constructor(path: string, why: string) {
    super(`${path} ${why}`);
    this.name = 'NotOursError';
  }
}

/** What the kernel says about links, sockets and directories that are opened as files. */
const NO_FILE: Readonly<Record<string, string>> = {
  ELOOP: 'is a symbolic link',
  ENXIO: 'is not a regular file',
  EISDIR: 'is a directory',
};

/** Only when the kernel says so: what cannot be looked at just now is there, or somebody would begin anew beside it. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    return errorCode(error) === 'ENOTDIR';
  }
}

/** Its text. `follow`: people may have put a link there. Throws NotOursError, or what the system said. */
export function readRegularFile(
  path: string,
  { maxBytes = MAX_OWN_BYTES, follow = false }: { readonly maxBytes?: number; readonly follow?: boolean } = {},
): string {
  const fd = openRegular(path, O_RDONLY | (follow ? 0 : O_NOFOLLOW));
  try {
    const { size } = fstatSync(fd);
    if (size > maxBytes) throw new NotOursError(path, `has ${size} bytes, and ${maxBytes} are the most that is read`);
    return readUpTo(fd, size, maxBytes).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

/** A descriptor that writes at its end, also when it has to be made; people may have put a link there. Throws as above. */
export const openToAppend = (path: string): number => openRegular(path, O_WRONLY | O_APPEND | O_CREAT);

/** Never into something that is there: whatever has that name, as a draft of somebody who died, is removed. */
export function writeNewFile(path: string, text: string, { flush = true }: { readonly flush?: boolean } = {}): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { flag: 'wx', mode: PRIVATE, flush });
}

/** Never waits for whoever is at the other end. Throws NotOursError for what can never be opened so. */
export function openSafely(path: string, flags: number): number {
  try {
    return openSync(path, flags | O_NONBLOCK, PRIVATE);
  } catch (error) {
    const why = NO_FILE[(error as NodeJS.ErrnoException).code ?? ''];
    throw why === undefined ? error : new NotOursError(path, why);
  }
}

function openRegular(path: string, flags: number): number {
  const fd = openSafely(path, flags);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new NotOursError(path, 'is not a regular file');
}

/** It may grow or shrink meanwhile. */
function readUpTo(fd: number, size: number, maxBytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(size + 1, maxBytes));
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
