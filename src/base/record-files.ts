/** What must outlive the daemon about one thing each, on disk: a directory of small JSON files, named by the key of what is in them. */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { meansGone } from './pure/errno.ts';
import { NotOursError, readRegularFile, writeNewFile } from './regular-file.ts';

const SUFFIX = '.json';

export class RecordFiles<K extends string, T extends { readonly v: 1 }> {
  readonly dir: string;
  readonly #keys: RegExp;
  readonly #keyOf: (record: T) => K;

  /** `keys`: what a key looks like; whatever has another name is not ours. */
  constructor(dir: string, keys: RegExp, keyOf: (record: T) => K) {
    this.dir = dir;
    this.#keys = keys;
    this.#keyOf = keyOf;
  }

  /** The old one or the new one, never half of it. */
  write(record: T): void {
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    writeDurably(this.#path(this.#keyOf(record)), `${JSON.stringify(record)}\n`);
  }

  /** Null: there is none, or it is damaged. Throws when it cannot be read just now. */
  read(key: K): T | null {
    if (!this.#keys.test(key)) return null;
    const text = ifThere(() => readRegularFile(this.#path(key)));
    if (text === null) return null;
    try {
      const record = JSON.parse(text) as T;
      return record.v === 1 && this.#keyOf(record) === key ? record : null;
    } catch {
      return null;
    }
  }

  /** Throws when they cannot be read just now. Without a directory none was ever written. */
  all(): readonly T[] {
    const names = ifThere(() => readdirSync(this.dir)) ?? [];
    const keys = names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
    return keys.flatMap((key) => this.read(key as K) ?? []);
  }

  remove(key: K): void {
    if (this.#keys.test(key)) rmSync(this.#path(key), { force: true });
  }

  #path(key: K): string {
    return join(this.dir, key + SUFFIX);
  }
}

function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (meansGone(error) || error instanceof NotOursError) return null;
    throw error;
  }
}

/** The old text or the new one, also after a power cut. */
export function writeDurably(path: string, text: string): void {
  writeNewFile(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}
