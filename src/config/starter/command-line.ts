/** A line of shell as a plain command, where that means the same. */
import { untransportable } from '../text.ts';
import type { Command } from './draft.ts';

export interface Line {
  readonly command: Command;
  /** `NAME=value` in front of the command. */
  readonly env: Readonly<Record<string, string>>;
}

/** Characters that a shell acts upon when they stand outside quotes. A tilde and a hash only do at the beginning of a word. */
const SPECIAL = /[|&;<>()$`*?[\]\n]/;
const SPECIAL_AT_START = /[~#]/;
const SPECIAL_IN_DOUBLE = /[$`]/;
const ESCAPED_IN_DOUBLE = /["\\$`]/;

/** What only a shell understands as the first word. */
const SHELL_WORDS = new Set(
  '! . : [ [[ { } alias bg break builtin case cd command continue declare do done elif else esac eval exec exit export fg fi for function getopts hash if in jobs let local read readonly return select set shift source test then time times trap type typeset ulimit umask unalias unset until wait while'.split(
    ' ',
  ),
);

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;
/** Keepwell sets it itself, so a configuration may not. */
const RESERVED = 'KEEPWELL_RUN';

/** Null: there is no command in it, or none that any program could receive. */
export function readLine(text: string): Line | null {
  const line = text.trim();
  if (line === '' || line.startsWith('#') || untransportable(line) !== null) return null;
  return plain(line) ?? { command: { shell: line }, env: {} };
}

interface Word {
  readonly text: string;
  /** Quotes in it were around the name of a variable, so it is no assignment. */
  readonly quotedAt: number;
}

function plain(line: string): Line | null {
  const words = split(line);
  if (words === null) return null;
  const env: Record<string, string> = {};
  let first = 0;
  for (; first < words.length; first += 1) {
    const { text, quotedAt } = words[first]!;
    const [, name, value] = ASSIGNMENT.exec(text) ?? [];
    if (name === undefined || value === undefined || quotedAt <= name.length) break;
    if (name === RESERVED || value.startsWith('~')) return null;
    env[name] = value;
  }
  // What an argument list starts is exactly what `exec` would put in the place of the shell.
  if (words[first]?.text === 'exec' && !words[first + 1]?.text.startsWith('-')) first += 1;
  const argv = words.slice(first).map(({ text }) => text);
  if (argv.length === 0 || argv[0] === '' || SHELL_WORDS.has(argv[0]!)) return null;
  return { command: { argv }, env };
}

/** The words of a line; null when a shell would do more with it than split it. */
function split(line: string): readonly Word[] | null {
  const words: Word[] = [];
  let at = 0;
  while (at < line.length) {
    if (/[ \t]/.test(line[at]!)) {
      at += 1;
      continue;
    }
    const read = readWord(line, at);
    if (read === null) return null;
    words.push(read.word);
    at = read.end;
  }
  return words;
}

function readWord(line: string, start: number): { readonly word: Word; readonly end: number } | null {
  if (SPECIAL_AT_START.test(line[start]!)) return null;
  let text = '';
  let quotedAt = Number.POSITIVE_INFINITY;
  let at = start;
  while (at < line.length && !/[ \t]/.test(line[at]!)) {
    const character = line[at]!;
    if (SPECIAL.test(character)) return null;
    const piece = /["'\\]/.test(character) ? readQuoted(line, at) : { text: character, end: at + 1 };
    if (piece === null) return null;
    if (piece.end > at + 1) quotedAt = Math.min(quotedAt, text.length);
    text += piece.text;
    at = piece.end;
  }
  return { word: { text, quotedAt }, end: at };
}

/** A backslash with what it protects, or everything up to the closing quote. */
function readQuoted(line: string, open: number): { readonly text: string; readonly end: number } | null {
  const quote = line[open];
  if (quote === '\\') {
    const next = line[open + 1];
    return next === undefined || next === '\n' ? null : { text: next, end: open + 2 };
  }
  if (quote === "'") {
    const close = line.indexOf("'", open + 1);
    return close < 0 ? null : { text: line.slice(open + 1, close), end: close + 1 };
  }
  let text = '';
  for (let at = open + 1; at < line.length; at += 1) {
    const character = line[at]!;
    if (character === '"') return { text, end: at + 1 };
    if (SPECIAL_IN_DOUBLE.test(character)) return null;
    const isEscape = character === '\\' && ESCAPED_IN_DOUBLE.test(line[at + 1] ?? '');
    if (isEscape) at += 1;
    text += line[at];
  }
  return null;
}
