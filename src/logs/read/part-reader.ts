/** The bytes of one part, by position. Compressed ones are streamed: going on is cheap, going back begins again at their beginning. */
import { closeSync } from 'node:fs';
import { openToRead, Scratch } from './files.ts';
import { type GzStream, openGz } from './gz-stream.ts';
import type { Part } from './parts.ts';

/** Null: the part is gone. Empty: it ends here, or cannot be read any further. Good until the next call. */
export type PartBytes = Buffer | null;

export class PartReader implements AsyncDisposable {
  readonly part: Part;
  readonly #scratch = new Scratch();
  #fd: number | null = null;
  #gz: GzStream | null = null;

  constructor(part: Part) {
    this.part = part;
  }

  async read(position: number, maxBytes: number): Promise<PartBytes> {
    const offset = position - this.part.base;
    const length = Math.min(maxBytes, this.part.end - position);
    if (this.part.form === 'gz') return await this.#readGz(offset, length);
    this.#fd ??= openToRead(this.part.path);
    return this.#fd === null ? null : this.#scratch.read(this.#fd, offset, length);
  }

  async #readGz(offset: number, length: number): Promise<PartBytes> {
    if (this.#gz && this.#gz.offset > offset) await this.#closeGz();
    this.#gz ??= await openGz(this.part.path);
    return (await this.#gz?.read(offset, length)) ?? null;
  }

  async #closeGz(): Promise<void> {
    await this.#gz?.close();
    this.#gz = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closeGz();
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}
