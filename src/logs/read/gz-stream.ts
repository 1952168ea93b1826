/** A gzip file, unpacked as it is read. Never more than a few chunks are in memory; zlib is loaded by the first one. */
import { closeSync, createReadStream, fstatSync } from 'node:fs';
import { openToRead, readAt, statOf } from './files.ts';

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

// How much of a log is in a compressed part: gzip ends with the length of what went in, in four bytes.

const LENGTH_BYTES = 4;
const LENGTH_RANGE = 2 ** 32;

/** Null: it is not there, or not readable. `atMost`: more cannot be in it, which tells 5 GiB from 1 GiB; not known: it is less than 4. */
export function gzLength(path: string, atMost = Number.MAX_SAFE_INTEGER): number | null {
  const fd = statOf(path) === null ? null : openToRead(path); // most often it is not there, and a look is cheaper
  if (fd === null) return null;
  try {
    const { size } = fstatSync(fd);
    const bytes = readAt(fd, Math.max(0, size - LENGTH_BYTES), LENGTH_BYTES);
    const length = bytes.length < LENGTH_BYTES ? 0 : bytes.readUInt32LE();
    const wraps = atMost >= Number.MAX_SAFE_INTEGER / 2 ? 0 : Math.floor((atMost - length) / LENGTH_RANGE);
    return length + Math.max(0, wraps) * LENGTH_RANGE;
  } finally {
    closeSync(fd);
  }
}
