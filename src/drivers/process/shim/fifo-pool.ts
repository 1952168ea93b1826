/**
 * FIFOs in stock. Node cannot make one, and starting `mkfifo` for each run would nearly double the cost of a start, so one
 * process makes many and each new run takes one by rename.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, fstatSync, mkdirSync, readdirSync, readSync, renameSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { NotOursError, openSafely } from '../../../base/regular-file.ts';

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

// The daemon's end of a run's FIFO: lines of the shim, and the end of file that tells that the shim is gone.

/** Never blocks, with or without a shim at the other end. NotOursError: something else is there, through which no shim speaks. */
export function openFifo(path: string): number {
  const fd = openSafely(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new NotOursError(path, 'is not a pipe');
}

/** As much as a user without privileges can have in one. */
const PIPE_BYTES = 1024 * 1024;

/**
 * What is in the FIFO right now, and whether anybody can still write to it. A FIFO opened after its last writer died never
 * reports an end of file to poll(2), but read(2) tells, so an adopted run must be asked this way first.
 */
export function drainFifo(fd: number): { readonly text: string; readonly hasWriter: boolean } {
  const chunk = Buffer.alloc(4096);
  let text = '';
  // What is more than a pipe holds is not the shim talking, and may never end.
  while (text.length < PIPE_BYTES) {
    try {
      const size = readSync(fd, chunk);
      if (size === 0) return { text, hasWriter: false };
      text += chunk.toString('utf8', 0, size);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return { text, hasWriter: true };
      throw error;
    }
  }
  return { text, hasWriter: true };
}

/** No line of the protocol is longer; more without a newline is not the shim talking. */
const MAX_LINE = 8192;

export class FifoWatch {
  readonly #socket: Socket;
  readonly #onLine: (line: string) => void;
  #rest = '';
  #isClosed = false;

  /** Takes over `fd`. `onEnd` comes at most once, and never after `close`. */
  constructor(fd: number, onLine: (line: string) => void, onEnd: () => void) {
    this.#onLine = onLine;
    try {
      this.#socket = new Socket({ fd, readable: true, writable: false });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#socket.setEncoding('utf8');
    this.#socket.on('data', (text: unknown) => this.feed(String(text)));
    this.#socket.on('error', () => {}); // 'close' follows
    this.#socket.once('close', () => {
      if (!this.#isClosed) onEnd();
    });
    this.#socket.unref();
  }

  feed(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-MAX_LINE);
    for (const line of lines) if (!this.#isClosed) this.#onLine(line);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }
}
