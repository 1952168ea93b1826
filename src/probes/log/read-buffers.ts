/** Buffers for reading, lent to one reader after the other: hundreds of logs are read with the memory of a few. */
import { CHUNK_BYTES, MAX_READS } from './limits.ts';

export class ReadBuffers {
  readonly #free: Buffer[] = [];
  readonly #waiting: (() => void)[] = [];
  #made = 0;

  async use<T>(work: (buffer: Buffer) => Promise<T>): Promise<T> {
    while (this.#free.length === 0 && this.#made >= MAX_READS) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const buffer = this.#free.pop() ?? this.#make();
    try {
      return await work(buffer);
    } finally {
      this.#free.push(buffer);
      this.#waiting.shift()?.();
    }
  }

  #make(): Buffer {
    this.#made += 1;
    return Buffer.allocUnsafeSlow(CHUNK_BYTES);
  }
}
