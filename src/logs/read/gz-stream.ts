/** A gzip file, unpacked as it is read. Never more than a few chunks are in memory; zlib is loaded by the first one. */
import { createReadStream } from 'node:fs';
import { openToRead } from './files.ts';

const CHUNK_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export interface GzStream {
  /** What was read or passed over so far. */
  readonly offset: number;
  /** Passes over what is before `offset`. Empty: it ends here, or what follows is damaged. */
  read(offset: number, maxBytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Null: it is not there. */
export async function openGz(path: string): Promise<GzStream | null> {
  const fd = openToRead(path);
  if (fd === null) return null;
  const { createGunzip } = await import('node:zlib');
  const file = createReadStream(path, { fd, highWaterMark: CHUNK_BYTES });
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => unpacked.destroy(error));
  file.pipe(unpacked);
  const chunks: AsyncIterator<Buffer> = unpacked[Symbol.asyncIterator]();
  let offset = 0;
  let chunk: Buffer = NOTHING;

  /** False at the end. A damaged file ends where the damage begins: whoever reads sees how much is missing. */
  const fill = async (): Promise<boolean> => {
    const { value, done } = await chunks.next().catch(() => ({ value: undefined, done: true as const }));
    chunk = done ? NOTHING : value;
    return !done;
  };

  return {
    get offset() {
      return offset;
    },
    async read(wanted, maxBytes) {
      for (;;) {
        const passed = Math.min(chunk.length, wanted - offset);
        offset += passed;
        chunk = chunk.subarray(passed);
        if (chunk.length > 0) break;
        if (!(await fill())) return NOTHING;
      }
      const bytes = chunk.subarray(0, maxBytes);
      offset += bytes.length;
      chunk = chunk.subarray(bytes.length);
      return bytes;
    },
    async close() {
      file.destroy();
      unpacked.destroy();
      if (!file.closed) await new Promise<void>((resolve) => file.once('close', resolve));
    },
  };
}
