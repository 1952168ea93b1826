/** One log file that is read to its end, and read on while it grows, is cut back, or is replaced. */
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { type Line, LineSplitter } from './lines.ts';
import { filteredTailOffset, readRange, tailOffset } from './tail.ts';

export interface LogReader {
  onLine(line: Line): void;
  /** The file was cut back or replaced: reading begins again at its beginning. */
  onRestart(why: 'truncated' | 'replaced'): void;
}

export interface TailOptions {
  readonly count: number;
  readonly wanted: ((line: Line) => boolean) | null;
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
  seekTail({ count, wanted }: TailOptions): void {
    if (this.#fd === null && !this.#open()) return;
    const { size } = fstatSync(this.#fd!);
    this.#offset = wanted ? filteredTailOffset(this.#fd!, size, { count, wanted }) : tailOffset(this.#fd!, size, count);
    this.#splitter = this.#split(this.#offset);
  }

  /** Whatever is new. A file that is not there (yet) has nothing new. */
  read(): void {
    if (this.#fd === null && !this.#open()) return;
    this.#readOpen();
    const inode = inodeOf(this.path);
    if (inode === null || inode === this.#inode) return;
    this.#splitter.flush();
    this.#close();
    this.#reader.onRestart('replaced');
    this.#offset = 0;
    this.#splitter = this.#split(0);
    if (this.#open()) this.#readOpen();
  }

  /** What stands at the end without a line break. */
  flush(): void {
    this.#splitter.flush();
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  #readOpen(): void {
    const { size } = fstatSync(this.#fd!);
    if (size < this.#offset) {
      this.#reader.onRestart('truncated');
      this.#offset = 0;
      this.#splitter = this.#split(0);
    }
    this.#offset = readRange(this.#fd!, this.#offset, size, (chunk) => this.#splitter.push(chunk));
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
