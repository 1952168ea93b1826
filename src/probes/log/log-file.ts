/** The log file of a component, opened for reading, and who it is: a name alone may stand for another file tomorrow. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { GoOn, HoldStill, LogCut } from '../../logs/ports.ts';
import { DirectoryHints, type Listener } from './directory-hints.ts';
import { CHUNK_BYTES, MAX_READS, type PollLimits } from './limits.ts';

export interface Identity {
  readonly device: number;
  readonly inode: number;
}

export interface FileSize extends Identity {
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

const seenFrom = ({ dev, ino, size }: Stats): FileSize => ({ device: dev, inode: ino, sizeBytes: size });

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** What has the name now; null: nothing. */
export async function lookAt(path: string): Promise<FileSize | null> {
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

// Which logs are being shortened just now: their readers hold still meanwhile, and go on where everything has moved to.

export interface HoldableReader {
  readonly path: string;
  /** Resolves when nothing is being read. */
  hold(): Promise<void>;
  goOn(cut: LogCut | null): void;
}

export class HeldLogs {
  readonly #readers = new Set<HoldableReader>();
  readonly #held = new Set<string>();

  add(reader: HoldableReader): void {
    this.#readers.add(reader);
    if (this.#held.has(reader.path)) void reader.hold();
  }

  delete(reader: HoldableReader): void {
    this.#readers.delete(reader);
  }

  readonly holdStill: HoldStill = async (path) => {
    this.#held.add(path);
    await Promise.all(this.#readersOf(path).map((reader) => reader.hold()));
    const goOn: GoOn = (cut) => {
      this.#held.delete(path);
      for (const reader of this.#readersOf(path)) reader.goOn(cut);
    };
    return goOn;
  };

  #readersOf(path: string): readonly HoldableReader[] {
    return [...this.#readers].filter((reader) => reader.path === path);
  }
}

// Buffers for reading, lent to one reader after the other: hundreds of logs are read with the memory of a few.

export class ReadBuffers {
  readonly #free: Buffer[] = [];
  readonly #waiting: (() => void)[] = [];
  #made = 0;

  async use<T>(work: (buffer: Buffer) => Promise<T>): Promise<T> {
    while (this.#free.length === 0 && this.#made >= MAX_READS) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const buffer = this.#free.pop() ?? this.#make();
    try {
      return await work(buffer);
    } finally {
      this.#free.push(buffer);
      this.#waiting.shift()?.();
    }
  }

  #make(): Buffer {
    this.#made += 1;
    return Buffer.allocUnsafeSlow(CHUNK_BYTES);
  }
}

/** Small questions about a text of whole lines, each ended by a line break. They cost one pass, however many lines there are. */

const NEWLINE = 0x0a;

export function countLines(lines: string, from = 0, end = lines.length): number {
  let count = 0;
  for (let at = from; at < end; at++) if (lines.charCodeAt(at) === NEWLINE) count++;
  return count;
}

/** The line that begins there. */
export const lineAt = (lines: string, start: number): string => lines.slice(start, lines.indexOf('\n', start));

/** Where the lines begin in which the text stands; the first `maxCount` of them. */
export function linesWith(lines: string, text: string, maxCount: number): number[] {
  const starts: number[] = [];
  for (let at = lines.indexOf(text); at >= 0 && starts.length < maxCount; ) {
    starts.push(lines.lastIndexOf('\n', at) + 1);
    at = lines.indexOf(text, lines.indexOf('\n', at) + 1);
  }
  return starts;
}

// Looks at all followed logs in rounds, and gives each its share of what may be read in a round. Rests while nothing is followed.

export class LogPoll {
  readonly #limits: PollLimits;
  readonly #hints = new DirectoryHints();
  readonly #listeners = new Set<Listener>();
  /** Bytes read in this round, by path: those who follow the same log share. */
  readonly #spent = new Map<string, number>();
  #spentInAll = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: PollLimits) {
    this.#limits = limits;
  }

  add(listener: Listener): void {
    this.#listeners.add(listener);
    this.#hints.add(listener);
    if (this.#timer) return;
    this.#forget();
    this.#timer = setInterval(() => this.#round(), this.#limits.everyMs).unref();
  }

  delete(listener: Listener): void {
    this.#listeners.delete(listener);
    this.#hints.delete(listener);
    if (this.#listeners.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** How many of the wanted bytes may be read now. 0: not before the next round. */
  grant(path: string, wantedBytes: number): number {
    const spent = this.#spent.get(path) ?? 0;
    const { bytesPerRound, bytesPerRoundInAll } = this.#limits;
    const granted = Math.min(wantedBytes, bytesPerRound - spent, bytesPerRoundInAll - this.#spentInAll);
    this.#spent.set(path, spent + granted);
    this.#spentInAll += granted;
    return granted;
  }

  #round(): void {
    this.#forget();
    this.#hints.renew();
    for (const listener of this.#listeners) listener.wake();
  }

  #forget(): void {
    this.#spent.clear();
    this.#spentInAll = 0;
  }
}
