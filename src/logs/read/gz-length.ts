/** How much of a log is in a compressed part: gzip ends with the length of what went in, in four bytes. */
import { closeSync, fstatSync } from 'node:fs';
import { openToRead, readAt, statOf } from './files.ts';

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
    const rounds = atMost >= Number.MAX_SAFE_INTEGER / 2 ? 0 : Math.floor((atMost - length) / LENGTH_RANGE);
    return length + Math.max(0, rounds) * LENGTH_RANGE;
  } finally {
    closeSync(fd);
  }
}
