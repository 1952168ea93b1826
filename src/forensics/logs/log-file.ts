/** One log file that is read to its end, and read on while it grows, is cut back, or is replaced. */
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { type Line, LineSplitter } from './lines.ts';
import { endOfLine, filteredTailOffset, readRange, tailOffset } from './tail.ts';

export interface LogReader {
  onLine(line: Line): void;
  /** The file was cut back or replaced: reading begins again at its beginning. */
  onRestart(why: 'truncated' | 'replaced'): void;
}

export interface TailOptions {
  readonly count: number;
  readonly wanted: ((line: Line) => boolean) | null;
  /** No further back than this, however few lines that gives. Default: no limit. */
  readonly maxBytes?: number;
}

export class LogFile implements Disposable {
  readonly path: string;
  readonly #reader: LogReader;
  #fd: number | null = null;
  #inode = 0;
  #offset = 0;
  #splitter: LineSplitter;

  constructor(path: string, reader: LogReader) {
    this.path = path;
    this.#reader = reader;
    this.#splitter = this.#split(0);
  }

  /** Moves to the last lines. Before the first `read`, otherwise everything is read. */
  seekTail({ count, wanted, maxBytes }: TailOptions): void {
    if (this.#fd === null && !this.#open()) return;
    const { size } = fstatSync(this.#fd!);
    const offset = wanted
      ? filteredTailOffset(this.#fd!, size, { count, wanted })
      : tailOffset(this.#fd!, size, count, maxBytes);
    this.#seek(offset);
  }

  /** Moves behind the line that begins at `offset`; to the beginning when no line of this file begins there. */
  seekBehind(offset: number): void {
    if (this.#fd === null && !this.#open()) return;
    this.#seek(endOfLine(this.#fd!, fstatSync(this.#fd!).size, offset) ?? 0);
  }

  /** Whatever is new, at most about `maxBytes` of it. A file that is not there (yet) has nothing new. */
  read(maxBytes = Number.MAX_SAFE_INTEGER): void {
    if (this.#fd === null && !this.#open()) return;
    if (!this.#readOpen(maxBytes)) return;
    const inode = inodeOf(this.path);
    if (inode === null || inode === this.#inode) return;
    this.#splitter.flush();
    this.#close();
    this.#reader.onRestart('replaced');
    this.#seek(0);
    if (this.#open()) this.#readOpen(maxBytes);
  }

  /** What stands at the end without a line break. */
  flush(): void {
    this.#splitter.flush();
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  /** True: read to its end. */
  #readOpen(maxBytes: number): boolean {
    const { size } = fstatSync(this.#fd!);
    if (size < this.#offset) {
      this.#reader.onRestart('truncated');
      this.#seek(0);
    }
    const to = Math.min(size, this.#offset + maxBytes);
    this.#offset = readRange(this.#fd!, this.#offset, to, (chunk) => this.#splitter.push(chunk));
    return this.#offset >= size;
  }

  #seek(offset: number): void {
    this.#offset = offset;
    this.#splitter = this.#split(offset);
  }

  #split(offset: number): LineSplitter {
    return new LineSplitter((line) => this.#reader.onLine(line), offset);
  }

  #open(): boolean {
    try {
      this.#fd = openSync(this.path, 'r');
      const stat = fstatSync(this.#fd);
      this.#inode = stat.ino;
      if (stat.isFile()) return true;
      this.#close(); // somebody put a directory there; the other logs can still be read
      return false;
    } catch (error) {
      if (NOT_TO_BE_READ.has((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }

  #close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

const NOT_TO_BE_READ: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ELOOP', 'ENXIO']);

function inodeOf(path: string): number | null {
  try {
    return statSync(path).ino;
  } catch {
    return null; // moved away and not replaced yet: the open one may still grow
  }
}
