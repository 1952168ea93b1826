/** Small questions to the file system, asked the same way by all who read logs. */

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs';
import { errorCode } from '../../base/pure/errno.ts';

/** Missing, forbidden, a loop of links, a socket: there is nothing to be read, which is no reason to fail. */
const NOT_TO_BE_READ: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENXIO']);

/** Null: there is nothing to be read. A FIFO that somebody put there must not hold us up. */
export function openToRead(path: string): number | null {
  const fd = ifReadable(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (fd === null || fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}

/** Null: nothing that can be read has this name. Throws when that is not known just now. */
export const statOf = (path: string): Stats | null =>
  ifReadable(() => statSync(path, { throwIfNoEntry: false }) ?? null);

/** No names: there is no such directory, or it is not for us. Throws when they are not known just now. */
export const namesIn = (dir: string): readonly string[] => ifReadable(() => readdirSync(dir)) ?? [];

function ifReadable<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (NOT_TO_BE_READ.has(errorCode(error))) return null;
    throw error;
  }
}

/** Who a file is. The number of an inode is used again soon after a file is gone; the time of its birth is not. */
export const identityOf = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

/** `length` bytes, or fewer where the file ends. */
export const readAt = (fd: number, position: number, length: number): Buffer =>
  readInto(Buffer.allocUnsafe(length), fd, position, length);

/** Reads into the same memory again and again: gigabytes would otherwise be garbage before they are collected. */
export class Scratch {
  #buffer: Buffer | null = null;

  /** Good until the next call. */
  read(fd: number, position: number, length: number): Buffer {
    if (length === 0)
      this.#buffer = null; // whoever waits for more holds nothing meanwhile
    else if (!this.#buffer || this.#buffer.length < length) this.#buffer = Buffer.allocUnsafe(length);
    return this.#buffer ? readInto(this.#buffer, fd, position, length) : Buffer.alloc(0);
  }
}

function readInto(buffer: Buffer, fd: number, position: number, length: number): Buffer {
  let filled = 0;
  while (filled < length) {
    const bytes = readSync(fd, buffer, filled, length - filled, position + filled);
    if (bytes === 0) break;
    filled += bytes;
  }
  return buffer.subarray(0, filled);
}

const MAX_TRIES = 20;

/** Does something with a file that is replaced as a whole now and then: what it returns comes from one and the same file. */
export function steadily<T>(path: string, action: () => T): T {
  for (let tries = 1; ; tries++) {
    const before = statOf(path);
    const result = action();
    const after = statOf(path);
    if (tries === MAX_TRIES || (before && identityOf(before)) === (after && identityOf(after))) return result;
  }
}

// NAME.log itself, held open: also when it is moved away, what is still written to it can be read.

export class MainFile implements Disposable {
  readonly #path: string;
  readonly #fd: number;
  readonly #identity: string;
  readonly #scratch = new Scratch();
  /** Where it began when it was last read. */
  base: number;
  /** The same as the facts said; another one by now means that somebody has noticed what happened to the file. */
  indexBase: number;

  private constructor(path: string, fd: number, base: number, indexBase: number) {
    this.#path = path;
    this.#fd = fd;
    this.#identity = identityOf(fstatSync(fd));
    this.base = base;
    this.indexBase = indexBase;
  }

  /** Null: it is not there (yet). */
  static open(path: string, base: number, indexBase: number): MainFile | null {
    const fd = openToRead(path);
    return fd === null ? null : new MainFile(path, fd, base, indexBase);
  }

  /** Another file has its name now. Moved away and not replaced yet: this one may still grow. */
  isReplaced(): boolean {
    const seen = statOf(this.#path);
    return seen?.isFile() === true && identityOf(seen) !== this.#identity;
  }

  state(): { readonly size: number; readonly mtimeMs: number } {
    const { size, mtimeMs } = fstatSync(this.#fd);
    return { size, mtimeMs };
  }

  /** Good until the next call. */
  read(offset: number, maxBytes: number): Buffer {
    return this.#scratch.read(this.#fd, offset, Math.max(0, Math.min(maxBytes, this.state().size - offset)));
  }

  /** Whether it begins with these bytes. */
  beginsWith(bytes: Buffer): boolean {
    return readAt(this.#fd, 0, bytes.length).equals(bytes);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}
