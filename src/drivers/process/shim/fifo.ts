/** The daemon's end of a run's FIFO: lines of the shim, and the end of file that tells that the shim is gone. */
import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { NotOursError, openSafely } from '../../../base/regular-file.ts';

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
