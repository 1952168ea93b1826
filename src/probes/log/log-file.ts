/** The log file of a component, opened for reading, and who it is: a name alone may stand for another file tomorrow. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

export interface Identity {
  readonly device: number;
  readonly inode: number;
}

export interface Seen extends Identity {
  readonly sizeBytes: number;
}

export interface LogFile {
  readonly identity: Identity;
  is(other: Identity): boolean;
  sizeBytes(): Promise<number>;
  /** How many bytes it read; 0 at the end. */
  read(buffer: Buffer, lengthBytes: number, position: number): Promise<number>;
  /** All of it. Closing the file is up to whoever opened it. */
  stream(): Readable;
  close(): Promise<void>;
}

const seenFrom = ({ dev, ino, size }: Stats): Seen => ({ device: dev, inode: ino, sizeBytes: size });

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** What has the name now; null: nothing. */
export async function lookAt(path: string): Promise<Seen | null> {
  try {
    return seenFrom(await stat(path));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Null: it is not there (any more). */
export async function openLogFile(path: string): Promise<LogFile | null> {
  let handle: FileHandle;
  try {
    // Without O_NONBLOCK, a FIFO that somebody put there would hold up a thread for ever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    return fileOf(handle, seenFrom(stats));
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const fileOf = (handle: FileHandle, identity: Identity): LogFile => ({
  identity,
  is: ({ device, inode }) => device === identity.device && inode === identity.inode,
  sizeBytes: async () => (await handle.stat()).size,
  read: async (buffer, lengthBytes, position) => (await handle.read(buffer, 0, lengthBytes, position)).bytesRead,
  stream: () => handle.createReadStream({ autoClose: false, start: 0 }),
  close: () => handle.close(),
});
