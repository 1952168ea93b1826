/** Where the last lines of a file begin, found without holding them in memory. */
import { readSync } from 'node:fs';
import { type Line, LineSplitter } from './lines.ts';

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** The offset at which the last `count` lines of the first `size` bytes begin; never further back than `maxBytes`. */
export function tailOffset(fd: number, size: number, count: number, maxBytes = size): number {
  if (count === 0) return size;
  const floor = Math.max(0, size - maxBytes);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let seen = 0;
  let firstBreak: number | null = null;
  for (let end = size; end > floor; ) {
    const start = Math.max(floor, end - CHUNK_BYTES);
    const bytes = readSync(fd, chunk, 0, end - start, start);
    for (let i = bytes - 1; i >= 0; i--) {
      if (chunk[i] !== NEWLINE || start + i === size - 1) continue; // the break at the very end closes the last line
      firstBreak = start + i + 1;
      if (++seen === count) return firstBreak;
    }
    end = start;
  }
  return floor === 0 ? 0 : (firstBreak ?? floor); // rather a whole line less than half a one
}

/** As `tailOffset`, counting only lines that `wanted` accepts. */
export function filteredTailOffset(
  fd: number,
  size: number,
  { count, wanted }: { count: number; wanted: (line: Line) => boolean },
): number {
  if (count === 0) return size;
  const offsets: number[] = [];
  let found = 0;
  const splitter = new LineSplitter((line) => {
    if (wanted(line)) offsets[found++ % count] = line.offset;
  });
  readRange(fd, 0, size, (chunk) => splitter.push(chunk));
  splitter.flush();
  if (found === 0) return size;
  return found <= count ? offsets[0]! : offsets[found % count]!;
}

/** Where the line that begins at `offset` ends, its break included; null when no whole line begins there. */
export function endOfLine(fd: number, size: number, offset: number): number | null {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  if (offset > 0 && (readSync(fd, chunk, 0, 1, offset - 1) === 0 || chunk[0] !== NEWLINE)) return null;
  for (let at = offset; at < size; ) {
    const bytes = readSync(fd, chunk, 0, Math.min(CHUNK_BYTES, size - at), at);
    const end = chunk.subarray(0, bytes).indexOf(NEWLINE);
    if (end >= 0) return at + end + 1;
    if (bytes === 0) return null;
    at += bytes;
  }
  return null;
}

/** Calls back with a buffer that is used again; returns how far it got (a file may shrink meanwhile). */
export function readRange(fd: number, from: number, to: number, onChunk: (chunk: Buffer) => void): number {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, to - from)));
  let at = from;
  while (at < to) {
    const bytes = readSync(fd, buffer, 0, Math.min(buffer.length, to - at), at);
    if (bytes === 0) break;
    onChunk(buffer.subarray(0, bytes));
    at += bytes;
  }
  return at;
}
