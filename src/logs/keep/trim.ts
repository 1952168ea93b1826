/** Keeps only the newest bytes of something, as a part under the name that says where they begin. Little enough to be done at once. */
import { closeSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { FILE_MODE, openFileSync, remove } from './files.ts';
import { type Part, partPath, TEMPORARY } from './parts.ts';

export interface NewPart {
  readonly dir: string;
  readonly component: string;
  readonly base: number;
  readonly atMs: number;
}

/** Null: it could not be written. */
export function writePart({ dir, component, base, atMs }: NewPart, content: Buffer): Part | null {
  const path = partPath(dir, component, base);
  const temporary = `${path}${TEMPORARY}`;
  try {
    remove(temporary);
    writeFileSync(temporary, content, { flag: 'wx', mode: FILE_MODE });
    renameSync(temporary, path);
    return { path, base, form: 'plain', bytes: content.length, length: content.length, atMs };
  } catch {
    remove(temporary);
    return null;
  }
}

/** The last bytes of an open file that has so many. */
export function readTail(fd: number, sizeBytes: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(Math.min(sizeBytes, bytes));
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, sizeBytes - buffer.length));
}

/** Null: it could not be done, so the part is as it was. */
export function trimPart(dir: string, component: string, part: Part, keepBytes: number): Part | null {
  try {
    const fd = openFileSync(part.path, 'read');
    try {
      const tail = readTail(fd, part.bytes, keepBytes);
      const base = part.base + part.bytes - tail.length;
      const trimmed = writePart({ dir, component, base, atMs: part.atMs }, tail);
      if (trimmed) remove(part.path);
      return trimmed;
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}
