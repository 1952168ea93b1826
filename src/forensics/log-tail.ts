/** The last lines a component wrote, bounded and with secrets taken out. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { redact } from '../core/redact.ts';

const MAX_BYTES = 64 * 1024;
const MAX_LINES = 50;
const MAX_LINE_CHARS = 2_000;

/** Empty when there is nothing to read: evidence that cannot be had is no reason to fail. `known`: values never to be shown. */
export function logTail(path: string, known: readonly string[]): readonly string[] {
  let text: string;
  try {
    text = readTail(path);
  } catch {
    return [];
  }
  return redact(text, known)
    .split('\n')
    .filter((line) => line !== '')
    .slice(-MAX_LINES)
    .map((line) =>
      line.length > MAX_LINE_CHARS
        ? `${line.slice(0, MAX_LINE_CHARS)} … ${line.length - MAX_LINE_CHARS} characters cut`
        : line,
    );
}

function readTail(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const buffer = Buffer.alloc(Math.min(size, MAX_BYTES));
    const read = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    const text = buffer.toString('utf8', 0, read);
    // A tail that begins in the middle of a line, or of a character, begins at the next one.
    return size > MAX_BYTES ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    closeSync(fd);
  }
}
