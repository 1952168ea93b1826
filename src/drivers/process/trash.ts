/**
 * Run directories leave by rename first and are deleted afterwards: a late shim must find either the whole directory or
 * none, never a half-deleted one in which its claim would succeed again.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { opendir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Log } from '../../base/log.ts';

const AT_ONCE = 4;
/** Components that crash faster than this is emptied are held up by it from here on. */
const MAX_WAITING = 256;
/** Of one that comes, so many go: then there are fewer and fewer. */
const CLEARED_PER_TAKE = 2;

export class Trash {
  readonly #dir: string;
  readonly #log: Log;
  #waiting: string[] = [];
  #active = new Set<Promise<void>>();
  #isClosed = false;

  /** Also deletes what earlier daemons left in it. */
  constructor(dir: string, log: Log) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#log = log;
    this.#begin(this.#clearLeftovers());
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
    for (let cleared = 0; this.#waiting.length > MAX_WAITING && cleared < CLEARED_PER_TAKE; cleared++)
      this.#deleteNow();
    this.#work();
  }

  /** Resolves when nothing is being deleted any more; what still waits is left to the next daemon. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting = [];
    await Promise.all(this.#active);
  }

  #work(): void {
    while (this.#active.size < AT_ONCE) {
      const name = this.#waiting.shift();
      if (name === undefined) return;
      this.#begin(this.#delete(name));
    }
  }

  #begin(work: Promise<void>): void {
    const done = work.finally(() => {
      this.#active.delete(done);
      this.#work();
    });
    this.#active.add(done);
  }

  /** One after the other and never all names at once: there may be hundreds of thousands. */
  async #clearLeftovers(): Promise<void> {
    try {
      for await (const { name } of await opendir(this.#dir)) {
        if (this.#isClosed) return;
        await this.#delete(name);
      }
    } catch (error) {
      this.#log.warn('the trash of earlier daemons could not be looked through', { error: String(error) });
    }
  }

  #deleteNow(): void {
    const name = this.#waiting.shift()!;
    try {
      rmSync(join(this.#dir, name), { recursive: true, force: true });
    } catch (error) {
      this.#complain(name, error);
    }
  }

  async #delete(name: string): Promise<void> {
    try {
      await rm(join(this.#dir, name), { recursive: true, force: true });
    } catch (error) {
      this.#complain(name, error);
    }
  }

  #complain(name: string, error: unknown): void {
    this.#log.warn('the trash could not be emptied', { name, error: String(error) });
  }
}
