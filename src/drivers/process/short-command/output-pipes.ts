/**
 * Real pipes for the output of short commands. Those that Node makes are sockets, and a socket cannot be opened by name:
 * `echo >/dev/stderr` would fail in every script that is asked by a probe. A FIFO without a name is a pipe, and one that
 * nobody writes to any more can be used again, so that in the long run nothing is made on disk.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchownSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { BoundedOutput } from '../../../base/bounded-output.ts';

/** Together with the mark at most 4 KiB. The end is worth more than the beginning: there stands what went wrong. */
const HEAD_BYTES = 1024;
const TAIL_BYTES = 3000;

/** Made at a time, since each time costs a process. */
const BATCH = 8;
/** What is kept open for the next commands. */
const MAX_IDLE = 32;
/** A pipe holds no more than this, unless a command made it larger. */
const DRAIN_BYTES = 64 * 1024;

export class OutputPipes {
  readonly #dir: string;
  readonly #mkfifo: string;
  #idle: number[] = [];
  #isClosed = false;

  /** `dir`: where FIFOs have their names for a moment. */
  constructor(dir: string, mkfifo: string) {
    this.#dir = dir;
    this.#mkfifo = mkfifo;
  }

  /** Throws when there is none to be had. */
  open(): OutputPipe {
    if (this.#idle.length === 0) this.#make();
    const fd = this.#idle.pop() ?? -1;
    try {
      return new OutputPipe(fd, (isEmpty) => this.#giveBack(fd, isEmpty));
    } catch (error) {
      this.#giveBack(fd, true);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const fd of this.#idle.splice(0)) closeSync(fd);
  }

  #make(): void {
    const paths = Array.from({ length: BATCH }, () => join(this.#dir, `.pipe-${randomBytes(8).toString('hex')}`));
    try {
      const { error, status } = spawnSync(this.#mkfifo, ['-m', '600', ...paths], { cwd: '/', stdio: 'ignore' });
      if (error) throw error;
      if (status !== 0) throw new Error(`mkfifo in ${this.#dir} ended with exit code ${status}`);
      for (const path of paths) this.#idle.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    } catch (error) {
      if (this.#idle.length === 0) throw error; // a few are better than none
    } finally {
      for (const path of paths) rmSync(path, { force: true });
    }
  }

  #giveBack(fd: number, isEmpty: boolean): void {
    if (isEmpty && !this.#isClosed && this.#idle.length < MAX_IDLE) this.#idle.push(fd);
    else closeSync(fd);
  }
}

const reopen = (fd: number, flags: number): number => openSync(`/proc/self/fd/${fd}`, flags);

/** One command's output: `writer` goes to the command, then `begin`, and after the command's end `finish`. */
export class OutputPipe {
  readonly writer: number;
  readonly #reader: number;
  readonly #giveBack: (isEmpty: boolean) => void;
  readonly #output = new BoundedOutput(HEAD_BYTES, TAIL_BYTES);
  readonly #socket: Socket;
  #isWriterOpen = true;
  #isReusable = true;

  constructor(reader: number, giveBack: (isEmpty: boolean) => void) {
    this.#reader = reader;
    this.#giveBack = giveBack;
    this.writer = reopen(reader, constants.O_WRONLY);
    try {
      const fd = reopen(reader, constants.O_RDONLY | constants.O_NONBLOCK);
      this.#socket = new Socket({ fd, readable: true, writable: false });
    } catch (error) {
      closeSync(this.writer);
      throw error;
    }
    this.#socket.on('error', () => {}); // the exit of the command tells the rest
  }

  /**
   * Programs open /dev/stdout by name, and then the kernel asks who they are. Whoever owned it once might still be reading, so it
   * is not used again.
   */
  giveTo({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
    this.#isReusable = false;
    fchownSync(this.writer, uid, gid);
  }

  /** The command has its end. Reads all the time, also what is not kept: a full pipe would hold up the command. */
  begin(): void {
    this.#closeWriter();
    this.#socket.on('data', (chunk: Buffer) => this.#output.add(chunk));
  }

  /** Takes in what has been written up to now. True when somebody can still write to it. */
  drain(): boolean {
    const chunk = Buffer.alloc(DRAIN_BYTES);
    // A pipe that is not empty after that much is being written to, and what is written now comes from somebody else.
    for (let read = 0; read < DRAIN_BYTES; ) {
      const size = this.#read(chunk);
      if (size <= 0) return size < 0;
      this.#output.add(chunk.subarray(0, size));
      read += size;
    }
    return true;
  }

  /** Nothing is read any more. Returns what was said. */
  finish(): string {
    this.#closeWriter();
    this.#socket.destroy();
    const isEmpty = !this.drain();
    this.#giveBack(isEmpty && this.#isReusable);
    return this.#output.text();
  }

  #closeWriter(): void {
    if (this.#isWriterOpen) closeSync(this.writer);
    this.#isWriterOpen = false;
  }

  /** 0: nobody has it open for writing; -1: there is nothing now, but somebody has. */
  #read(chunk: Buffer): number {
    try {
      return readSync(this.#reader, chunk);
    } catch {
      return -1; // EAGAIN
    }
  }
}
