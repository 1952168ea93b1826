/** Copies a stretch of a log into a part, in bounded pieces so that nobody waits for it. */
import { readSync, renameSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openFile, remove } from './files.ts';
import { TEMPORARY } from './parts.ts';

const CHUNK_BYTES = 256 * 1024;

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** A part while it is being written: it has its name only once it is whole. */
export class PartWriter implements AsyncDisposable {
  readonly path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  #bytes = 0;
  #hasName = false;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#temporary = `${path}${TEMPORARY}`;
    this.#handle = handle;
  }

  static async open(path: string): Promise<PartWriter> {
    remove(`${path}${TEMPORARY}`);
    return new PartWriter(path, await openFile(`${path}${TEMPORARY}`, 'make'));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Rejects when the log ends before `to`: somebody cut it back. */
  async copy(source: FileHandle, { from, to }: Stretch, signal: AbortSignal): Promise<void> {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - from));
    for (let at = from; at < to; ) {
      signal.throwIfAborted();
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, to - at), at);
      if (bytesRead === 0) throw new Error('it was cut back meanwhile');
      await this.#write(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  }

  /** The same without giving way to anybody. Returns how far it came. */
  copySync(source: FileHandle, { from, to }: Stretch): number {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, to - from)));
    let at = from;
    while (at < to) {
      const bytes = readSync(source.fd, buffer, 0, Math.min(buffer.length, to - at), at);
      if (bytes === 0) break;
      for (let done = 0; done < bytes; ) done += writeSync(this.#handle.fd, buffer, done, bytes - done);
      at += bytes;
      this.#bytes += bytes;
    }
    return at;
  }

  /** On the disk, so that a power cut after the log was shortened finds it there. */
  async flush(): Promise<void> {
    await this.#handle.datasync();
  }

  name(): void {
    renameSync(this.#temporary, this.path);
    this.#hasName = true;
  }

  /** As if nothing had been written. */
  async takeBack(): Promise<void> {
    remove(this.#hasName ? this.path : this.#temporary);
    await this.#handle.close().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close().catch(() => {}); // closed already
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#handle.write(bytes, done, bytes.length - done)).bytesWritten;
    }
    this.#bytes += bytes.length;
  }
}
