/**
 * Tells at once that a log has grown: one fs.watch for each directory with logs. Only a hint, because watching may fail and the
 * kernel may forget to tell; whoever listens also looks from time to time.
 */
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

export interface Listener {
  readonly path: string;
  wake(): void;
}

/** A directory in which more happens is not listened to until the next `renew`: each hint costs a look at a file. */
const MAX_HINTS = 100;

export class DirectoryHints {
  readonly #directories = new Map<string, Directory>();

  add(listener: Listener): void {
    const path = dirname(listener.path);
    const directory = this.#directories.get(path) ?? new Directory(path);
    this.#directories.set(path, directory);
    directory.listeners.add(listener);
    directory.open();
  }

  delete(listener: Listener): void {
    const path = dirname(listener.path);
    const directory = this.#directories.get(path);
    if (!directory?.listeners.delete(listener) || directory.listeners.size > 0) return;
    directory.close();
    this.#directories.delete(path);
  }

  /** To be called from time to time: listens again where that failed or was too much. */
  renew(): void {
    for (const directory of this.#directories.values()) directory.renew();
  }
}

class Directory {
  readonly listeners = new Set<Listener>();
  readonly #path: string;
  #watcher: FSWatcher | null = null;
  #heard = 0;

  constructor(path: string) {
    this.#path = path;
  }

  open(): void {
    if (this.#watcher || this.#heard >= MAX_HINTS) return;
    try {
      this.#watcher = watch(this.#path, { persistent: false }, (_event, name) => this.#tell(name));
      this.#watcher.on('error', () => this.close());
    } catch {
      this.#watcher = null; // no such directory, or no watches left: it is tried again, and the logs are looked at anyway
    }
  }

  renew(): void {
    this.#heard = 0;
    this.open();
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #tell(name: string | null): void {
    this.#heard += 1;
    if (this.#heard >= MAX_HINTS) this.close();
    for (const listener of this.listeners) if (name === null || basename(listener.path) === name) listener.wake();
  }
}
