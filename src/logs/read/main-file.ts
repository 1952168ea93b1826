/** NAME.log itself, held open: also when it is moved away, what is still written to it can be read. */
import { closeSync, fstatSync } from 'node:fs';
import { identityOf, openToRead, readAt, Scratch, statOf } from './files.ts';

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
