/** The component's log, written in the order things come and never more than a little behind: who writes more has to wait. */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { after } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';

/** Not blocking, because a FIFO nobody reads would hold us up for ever. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
/** More than this is not held in memory. */
const MAX_HELD_BYTES = 256 * 1024;
/** A disk that is full may be emptied: the Engine keeps the output meanwhile. */
const RETRY_MS = 1_000;

export interface LogFileOptions extends Pick<Runtime, 'clock' | 'log'> {
  readonly path: string;
  /** Ends every wait. */
  readonly signal: AbortSignal;
  /** So many bytes more are in the file. */
  written(bytes: number): void;
}

export class LogFile {
  readonly #options: LogFileOptions;
  #handle: FileHandle | null = null;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #writing: Promise<void> | null = null;
  #isToldFull = false;

  constructor(options: LogFileOptions) {
    this.#options = options;
  }

  /** A promise: wait for it before you bring more. */
  add(piece: Buffer): Promise<void> | undefined {
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    this.#writing ??= this.#write();
    return this.#heldBytes > MAX_HELD_BYTES ? this.flushed() : undefined;
  }

  /** All that was added is in the file. */
  get isSettled(): boolean {
    return this.#heldBytes === 0;
  }

  /** Resolves when all that was added is in the file, or when the signal aborts. */
  async flushed(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async close(): Promise<void> {
    await this.flushed();
    await this.#handle?.close();
    this.#handle = null;
  }

  async #write(): Promise<void> {
    const { signal } = this.#options;
    try {
      await Promise.resolve(); // what comes in the same moment goes in one piece
      while (this.#held.length > 0 && !signal.aborted) {
        const bytes = Buffer.concat(this.#held);
        this.#held = [];
        await this.#writeAll(bytes);
        if (signal.aborted) return;
        this.#heldBytes -= bytes.length;
      }
    } finally {
      this.#writing = null;
    }
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    const { clock, signal, written } = this.#options;
    for (let from = 0; from < bytes.length && !signal.aborted; ) {
      try {
        this.#handle ??= await this.#open();
        const { bytesWritten } = await this.#handle.write(bytes, from);
        from += bytesWritten;
        written(bytesWritten);
        this.#isToldFull = false;
      } catch (error) {
        this.#complain(error);
        await clock.sleepUntil(after(clock.now(), RETRY_MS), signal).catch(() => {});
      }
    }
  }

  async #open(): Promise<FileHandle> {
    const { path } = this.#options;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, FLAGS, 0o600);
  }

  #complain(error: unknown): void {
    if (this.#isToldFull) return;
    this.#isToldFull = true;
    const { log, path } = this.#options;
    log.warn('what a container writes cannot be written into its log; it is tried again', {
      path,
      error: String(error),
    });
  }
}
