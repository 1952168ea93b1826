/** Reads small files of the kernel: half as dear as `readFileSync`, which asks for their size first. */
import { closeSync, openSync, readSync } from 'node:fs';
import { meansGone } from '../../base/pure/errno.ts';

const buffer = Buffer.allocUnsafe(16 * 1024);
/** Lists come a page at a time: what is shorter than half of one is all there is, and need not be asked for again. */
const SURELY_ALL = 2048;

/** Null when it is not there (any more). Throws when it cannot be read just now: that says nothing about it. */
export function readProcFile(path: string): string | null {
  let fd = -1;
  try {
    fd = openSync(path, 'r');
    let text = '';
    for (;;) {
      const length = readSync(fd, buffer, 0, buffer.length, null);
      text += buffer.toString('utf8', 0, length);
      if (length < SURELY_ALL) return text;
    }
  } catch (error) {
    if (meansGone(error)) return null;
    throw error;
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

/** For descriptions, which say what can be seen: null also when it cannot be read. */
export function peekProcFile(path: string): string | null {
  try {
    return readProcFile(path);
  } catch {
    return null;
  }
}

/** The number in a file with one number; null when there is none. */
export function readNumber(path: string): number | null {
  const value = Number.parseInt(readProcFile(path) ?? '', 10);
  return Number.isSafeInteger(value) ? value : null;
}

/** The sum of the numbers behind these words in a file of `word number` lines; null when one of them is not there. */
export function sumOfWords(path: string, words: readonly string[]): number | null {
  const lines = (readProcFile(path) ?? '').split('\n').map((line) => line.split(' ') as [string, string]);
  const found = new Map(lines);
  const sum = words.reduce((total, word) => total + Number(found.get(word)), 0);
  return Number.isFinite(sum) ? sum : null;
}
