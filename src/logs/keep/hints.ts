/**
 * Which logs were written to, as the kernel tells: so that those that rest cost nothing. Only a hint: watching may fail, and where
 * very much is written it is cheaper to look than to be told. Then it is not known, and all have to be looked at.
 */
import { type FSWatcher, watch } from 'node:fs';

/** More in one round are not listened to. */
const MAX_HINTS = 200;

export class WriteHints implements Disposable {
  readonly #dir: string;
  #watcher: FSWatcher | null = null;
  #files = new Set<string>();
  #heard = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The files that something happened to since the last time; null: that is not known. */
  take(): ReadonlySet<string> | null {
    const files = this.#files;
    const wasListening = this.#watcher !== null;
    this.#files = new Set();
    this.#heard = 0;
    if (!wasListening) this.#listen();
    return wasListening ? files : null;
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #listen(): void {
    try {
      this.#watcher = watch(this.#dir, { persistent: false }, (_event, file) => this.#hear(file));
      this.#watcher.on('error', () => this[Symbol.dispose]());
    } catch {
      this.#watcher = null; // no such directory, or no watches left
    }
  }

  #hear(file: string | null): void {
    this.#heard += 1;
    if (file === null || this.#heard > MAX_HINTS) this[Symbol.dispose]();
    else this.#files.add(file);
  }
}
