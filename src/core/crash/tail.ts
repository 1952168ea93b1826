/** The last output of what crashed, bounded and with secrets taken out: the one form in which dossiers get it. */
import { redact } from '../redact.ts';

export interface CrashTail {
  /** As much as a stack may need. */
  readonly text: string;
  /** Its last lines, bounded for the record. */
  readonly lines: readonly string[];
}

/** So much of the end of a log is read. */
export const MAX_TAIL_BYTES = 64 * 1024;
export const NO_TAIL: CrashTail = { text: '', lines: [] };

const MAX_LINES = 50;
const MAX_LINE_CHARS = 2_000;

/** `known`: values never to be shown. `isCut`: it begins in the middle of a line. */
export function tailOf(raw: string, known: readonly string[], { isCut }: { readonly isCut: boolean }): CrashTail {
  // A program may die in the middle of a word.
  const text = redact(raw, known, { start: isCut, end: true });
  return { text, lines: lastLines(text) };
}

/** What begins in the middle of a line, or of a character, begins at the next one. */
export function cutTail(raw: string, known: readonly string[]): CrashTail {
  const next = raw.indexOf('\n') + 1;
  return tailOf(raw.slice(next), known, { isCut: next === 0 });
}

const lastLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .slice(-MAX_LINES)
    .map((line) =>
      line.length > MAX_LINE_CHARS
        ? `${line.slice(0, MAX_LINE_CHARS)} … ${line.length - MAX_LINE_CHARS} characters cut`
        : line,
    );
