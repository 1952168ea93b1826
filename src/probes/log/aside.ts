/** What was put aside of a log before somebody had read it: read from the part it lies in, plain or compressed. */
import { createGunzip } from 'node:zlib';
import type { PartPlace } from '../../logs/log-keeping.ts';
import { CHUNK_BYTES } from './limits.ts';
import { openLogFile } from './log-file.ts';

/** Reads on from where it was read to. */
interface PartReader {
  /** 0: it ends here. */
  read(buffer: Buffer, lengthBytes: number): Promise<number>;
  close(): Promise<void>;
}

export class Aside {
  readonly #place: PartPlace;
  #at: number;
  #reader: PartReader | null = null;

  constructor(place: PartPlace) {
    this.#place = place;
    this.#at = place.from;
  }

  get leftBytes(): number {
    return this.#place.to - this.#at;
  }

  /** How many bytes it read; 0: the rest is not to be had. */
  async read(buffer: Buffer, lengthBytes: number): Promise<number> {
    this.#reader ??= await openPart(this.#place.path, this.#at);
    const bytes = (await this.#reader?.read(buffer, Math.min(lengthBytes, this.leftBytes))) ?? 0;
    this.#at += bytes;
    return bytes;
  }

  async close(): Promise<void> {
    await this.#reader?.close();
    this.#reader = null;
  }
}

/** Null: it is gone. */
async function openPart(path: string, from: number): Promise<PartReader | null> {
  const plain = await openLogFile(path);
  if (!plain) return await openGzip(`${path}.gz`, from);
  let at = from;
  return {
    read: async (buffer, lengthBytes) => {
      const bytes = await plain.read(buffer, lengthBytes, at);
      at += bytes;
      return bytes;
    },
    close: () => plain.close(),
  };
}

async function openGzip(path: string, from: number): Promise<PartReader | null> {
  const file = await openLogFile(path);
  if (!file) return null;
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  const packed = file.stream();
  packed.on('error', (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  const chunks: AsyncIterator<Buffer> = unpacked[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let toSkip = from;
  const fill = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { value, done } = await chunks.next().catch(() => ({ done: true as const, value: null })); // it is damaged
      if (done) return false;
      const skipped = Math.min(toSkip, value.length);
      toSkip -= skipped;
      rest = value.subarray(skipped);
    }
    return true;
  };
  return {
    read: async (buffer, lengthBytes) => {
      if (!(await fill())) return 0;
      const bytes = rest.copy(buffer, 0, 0, lengthBytes);
      rest = rest.subarray(bytes);
      return bytes;
    },
    close: async () => {
      packed.destroy();
      unpacked.destroy();
      await file.close();
    },
  };
}
