/** Puts in order what a daemon that was killed left half-done. Afterwards the facts and the files say the same. */
import type { FileHandle } from 'node:fs/promises';
import type { Log } from '../../base/log.ts';
import { untilNoOrphan } from './collapse.ts';
import { openFile, remove } from './files.ts';
import type { KeptLog } from './kept-log.ts';
import { type Listing, lengthOf, type Part } from './parts.ts';

/** So much of a head and a part is compared. A log that repeats itself that long cannot be told apart, and need not be. */
const COMPARED_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** What nobody will finish: half-written files, and plain parts that are compressed already. Returns the parts that stay. */
export function clearAway({ temporary, parts }: Listing): Map<string, readonly Part[]> {
  for (const path of temporary) remove(path);
  return new Map(
    [...parts].map(([name, all]) => {
      const compressed = new Set(all.filter(({ form }) => form === 'gz').map(({ base }) => base));
      const isDouble = ({ form, base }: Part): boolean => form === 'plain' && compressed.has(base);
      for (const part of all) if (isDouble(part)) remove(part.path);
      return [name, all.filter((part) => !isDouble(part))];
    }),
  );
}

export async function recover(log: KeptLog, parts: readonly Part[], diary: Log): Promise<void> {
  const last = parts.at(-1);
  const known = log.times.read();
  const behindParts = last ? last.base + lengthOf(last) : 0;
  const base = known.base ?? behindParts;
  const half = parts.filter((part) => part.base >= base);
  log.parts = parts.filter((part) => part.base < base);
  if (half.length === 0) {
    log.restore(base, known.end);
    return;
  }
  await untilNoOrphan(log.path);
  if (await isHeadThere(log.path, half[0]!, base, known.end)) {
    for (const { path } of half) remove(path);
    diary.info('putting a log aside was interrupted and is taken back', { component: log.name });
    log.restore(base, known.end);
    return;
  }
  log.parts = parts;
  log.restore(behindParts, Math.max(known.end, behindParts));
  log.times.base(behindParts);
  diary.info('putting a log aside was interrupted after its head was cut off', { component: log.name });
}

/** Whether the log still begins with what the part holds. */
async function isHeadThere(path: string, part: Part, base: number, knownEnd: number): Promise<boolean> {
  if (part.form === 'gz' || part.base !== base) return false;
  try {
    await using log = await openFile(path, 'read');
    await using copy = await openFile(part.path, 'read');
    const { size } = await log.stat();
    const length = lengthOf(part);
    if (size < length || base + size < knownEnd) return false;
    return await isEqual(log, copy, Math.min(length, COMPARED_BYTES));
  } catch {
    return false; // there is no log, so its head is not there either
  }
}

async function isEqual(one: FileHandle, other: FileHandle, bytes: number): Promise<boolean> {
  const [a, b] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
  for (let at = 0; at < bytes; at += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, bytes - at);
    await one.read(a, 0, length, at);
    await other.read(b, 0, length, at);
    if (!a.subarray(0, length).equals(b.subarray(0, length))) return false;
  }
  return true;
}
