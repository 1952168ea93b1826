/**
 * FIFOs in stock. Node cannot make one, and starting `mkfifo` for each run would nearly double the cost of a start, so one
 * process makes many and each new run takes one by rename.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const STOCK = 32;
const REFILL_BELOW = 12;

export class FifoPool {
  readonly #dir: string;
  readonly #mkfifo: string;
  #stock: string[];
  #refilling: Promise<void> | null = null;
  #isClosed = false;

  constructor(dir: string, mkfifo: string) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#mkfifo = mkfifo;
    this.#stock = readdirSync(dir);
    this.#refill();
  }

  /** Puts a FIFO at `path`. Throws when none can be made. */
  take(path: string): void {
    const name = this.#stock.pop();
    this.#refill();
    if (name !== undefined && this.#move(name, path)) return;
    const { error, status } = spawnSync(this.#mkfifo, ['-m', '600', path], { cwd: '/', stdio: 'ignore' });
    if (error) throw error;
    if (status !== 0) throw new Error(`mkfifo ${path} ended with exit code ${status}`);
  }

  /** Afterwards nobody makes anything in its directory. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#refilling;
  }

  #move(name: string, path: string): boolean {
    try {
      renameSync(join(this.#dir, name), path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return false; // somebody cleaned up the stock; the list is only a memory of it
    }
  }

  /** A failure here is not worth a word: `take` makes its own FIFO and says why when it cannot. */
  #refill(): void {
    if (this.#refilling || this.#isClosed || this.#stock.length >= REFILL_BELOW) return;
    const names = Array.from({ length: STOCK - this.#stock.length }, () => randomBytes(8).toString('hex'));
    this.#refilling = this.#make(names).then((isMade) => {
      this.#refilling = null;
      if (isMade) this.#stock.push(...names);
    });
  }

  async #make(names: readonly string[]): Promise<boolean> {
    try {
      const child = spawn(this.#mkfifo, ['-m', '600', ...names], { cwd: this.#dir, stdio: 'ignore' });
      const [code] = await once(child, 'exit');
      return code === 0;
    } catch {
      return false;
    }
  }
}
