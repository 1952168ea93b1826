/**
 * Run directories leave by rename first and are deleted afterwards: a late shim must find either the whole directory or
 * none, never a half-deleted one in which its claim would succeed again.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Log } from '../../ports/log.ts';

const AT_ONCE = 4;

export class Trash {
  readonly #dir: string;
  readonly #log: Log;
  #waiting: string[] = [];
  #active = new Set<Promise<void>>();

  /** Also deletes what earlier daemons left in it. */
  constructor(dir: string, log: Log) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#log = log;
    this.#waiting.push(...readdirSync(dir));
    this.#work();
  }

  /** A directory that is gone already is fine. Throws when it cannot be moved. */
  take(path: string): void {
    const name = `${basename(path)}.${randomBytes(6).toString('hex')}`;
    try {
      renameSync(path, join(this.#dir, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    this.#waiting.push(name);
    this.#work();
  }

  /** Resolves when nothing is being deleted any more; what still waits is left to the next daemon. */
  async close(): Promise<void> {
    this.#waiting = [];
    await Promise.all(this.#active);
  }

  #work(): void {
    while (this.#active.size < AT_ONCE) {
      const name = this.#waiting.shift();
      if (name === undefined) return;
      const done = this.#delete(name).finally(() => {
        this.#active.delete(done);
        this.#work();
      });
      this.#active.add(done);
    }
  }

  async #delete(name: string): Promise<void> {
    try {
      await rm(join(this.#dir, name), { recursive: true, force: true });
    } catch (error) {
      this.#log.warn('the trash could not be emptied', { name, error: String(error) });
    }
  }
}
