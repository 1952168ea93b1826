import { type Line, LineSplitter } from './lines.ts';
import { MainFile } from './read/files.ts';

// One plain file that is read to its end, and read on while it grows, is cut back, or is replaced.

export interface LogReader {
  onLine(line: Line): void;
  /** The file was cut back or replaced: reading begins again at its beginning. */
  onRestart(why: 'truncated' | 'replaced'): void;
}

const CHUNK_BYTES = 64 * 1024;

export class LogFile implements Disposable {
  readonly #path: string;
  readonly #reader: LogReader;
  #file: MainFile | null = null;
  #offset = 0;
  #splitter: LineSplitter;

  constructor(path: string, reader: LogReader) {
    this.#path = path;
    this.#reader = reader;
    this.#splitter = this.#split();
  }

  /** Whatever is new. A file that is not there (yet) has nothing new. */
  read(): void {
    this.#file ??= MainFile.open(this.#path, 0, 0);
    if (!this.#file) return;
    this.#readOpen(this.#file);
    if (!this.#file.isReplaced()) return;
    this[Symbol.dispose]();
    this.#restart('replaced');
    this.read();
  }

  /** What stands at the end without a line break. */
  flush(): void {
    this.#splitter.flush();
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
    this.#file = null;
  }

  #readOpen(file: MainFile): void {
    if (file.state().size < this.#offset) this.#restart('truncated');
    for (;;) {
      const bytes = file.read(this.#offset, CHUNK_BYTES);
      if (bytes.length === 0) return;
      this.#splitter.push(bytes);
      this.#offset += bytes.length;
    }
  }

  #restart(why: 'truncated' | 'replaced'): void {
    this.#splitter.flush();
    this.#reader.onRestart(why);
    this.#offset = 0;
    this.#splitter = this.#split();
  }

  #split(): LineSplitter {
    return new LineSplitter((line) => this.#reader.onLine(line));
  }
}

/** What reading logs takes, for the CLI, which loads it only when it does: a bundle of its own. */
export { biteFor, FileCursor } from './file-logs.ts';
export { interleaved } from './read/interleave.ts';
export { matcherOf } from './read/match.ts';
