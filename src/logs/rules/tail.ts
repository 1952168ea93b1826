/** The last output of what crashed, bounded and with secrets taken out: the one form in which dossiers get it. */
import { redact } from '../../base/pure/redact.ts';

export interface CrashTail {
  /** As much as a stack may need. */
  readonly text: string;
  /** Its last lines, bounded for the record. */
  readonly lines: readonly string[];
  /** How long before the end a line was written, counted from the last one (0); null: not known. Absent: of none. */
  readonly ageMs?: (linesFromEnd: number) => number | null;
}

/** So much of the end of a log is read. Most of it is of use only when a single line takes more than all that is looked at. */
export const MAX_TAIL_BYTES = 512 * 1024;
/** So much is looked at. */
const LOOKED_AT_CHARS = 64 * 1024;
/** Less than this after a line that is cut: the line is what matters. */
const MIN_AFTER_CHARS = 4 * 1024;
export const NO_TAIL: CrashTail = { text: '', lines: [] };

const MAX_LINES = 50;
const MAX_LINE_CHARS = 2_000;

/** `known`: values never to be shown. `isCut`: it begins in the middle of a line. */
export function tailOf(raw: string, known: readonly string[], { isCut }: { readonly isCut: boolean }): CrashTail {
  // A program may die in the middle of a word.
  const end = endOf(raw);
  const text = withShortLines(redact(end, known, { start: isCut && end.length === raw.length, end: true }));
  return { text, lines: lastLines(text) };
}

/** Whole lines, as far as a crash is looked for; all there is when a line is longer than that. */
function endOf(raw: string): string {
  if (raw.length <= LOOKED_AT_CHARS) return raw;
  const next = raw.indexOf('\n', raw.length - LOOKED_AT_CHARS) + 1;
  return next > 0 && raw.length - next >= MIN_AFTER_CHARS ? raw.slice(next) : raw;
}

const SHORT_LINE_CHARS = 8 * 1024;

/** A message of half a megabyte is cut behind its beginning, which names the error. */
const withShortLines = (text: string): string =>
  text.length <= LOOKED_AT_CHARS
    ? text
    : text
        .split('\n')
        .map((line) => (line.length > SHORT_LINE_CHARS ? shortLine(line) : line))
        .join('\n');

const shortLine = (line: string): string =>
  `${line.slice(0, SHORT_LINE_CHARS)} … ${line.length - SHORT_LINE_CHARS} characters cut`;

/** What begins in the middle of a line, or of a character, begins at the next one. */
export function cutTail(raw: string, known: readonly string[]): CrashTail {
  const next = raw.indexOf('\n') + 1;
  // Of a line that takes all of it, the end is better than nothing.
  const isAllThereIs = next === 0 || raw.slice(next).trim() === '';
  return tailOf(isAllThereIs ? raw : raw.slice(next), known, { isCut: isAllThereIs });
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
