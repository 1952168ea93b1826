/** The facts of NAME.log.times in order, from some place on, read on while the file grows. */
import { closeSync, fstatSync } from 'node:fs';
import { type Fact, FactReader } from '../format.ts';
import { identityOf, openToRead, readAt, statOf } from './files.ts';

const CHUNK_BYTES = 64 * 1024;
/** A line of facts is short. What is longer is no fact, and must not be collected. */
const MAX_LINE_CHARS = 1_000;

export class FactStream {
  readonly #path: string;
  readonly #reader = new FactReader();
  #identity: string | null = null;
  #offset: number;
  #size = 0;
  #lines: string[] = [];
  #at = 0;
  #rest = '';

  /** `offset`: where a line begins that needs no earlier one. */
  constructor(path: string, offset = 0) {
    this.#path = path;
    this.#offset = offset;
    this.refresh();
  }

  /** Looks whether there is more to read. False: the file was replaced, and this stream is of no more use. */
  refresh(): boolean {
    const seen = statOf(this.#path);
    if (seen === null) return this.#identity === null;
    this.#identity ??= identityOf(seen);
    if (this.#identity !== identityOf(seen) || seen.size < this.#offset) return false;
    this.#size = seen.size;
    return true;
  }

  get exists(): boolean {
    return this.#identity !== null;
  }

  /** Null: none that is known of; after `refresh` there may be more. */
  next(): Fact | null {
    for (;;) {
      while (this.#at < this.#lines.length) {
        const fact = this.#reader.read(this.#lines[this.#at++]!);
        if (fact) return fact;
      }
      if (this.#offset >= this.#size || !this.#fill()) return null;
    }
  }

  #fill(): boolean {
    const fd = openToRead(this.#path);
    if (fd === null) return false;
    try {
      if (identityOf(fstatSync(fd)) !== this.#identity) return false;
      const bytes = readAt(fd, this.#offset, Math.min(CHUNK_BYTES, this.#size - this.#offset));
      this.#offset += bytes.length;
      this.#lines = `${this.#rest}${bytes.toString('latin1')}`.split('\n');
      this.#rest = this.#lines.pop()!.slice(0, MAX_LINE_CHARS);
      this.#at = 0;
      return bytes.length > 0;
    } finally {
      closeSync(fd);
    }
  }
}
