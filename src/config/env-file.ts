/** `.env` files: `KEY=value` lines. Nothing is expanded in them, so a value is what it looks like. */
import { quoted } from './text.ts';
import type { Mistake } from './tree.ts';

export interface EnvProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint: string;
}

export interface EnvFile {
  /** In file order; a name given twice has its last value, as in a shell. */
  readonly entries: ReadonlyMap<string, string>;
  readonly problems: readonly EnvProblem[];
}

type FoundEnvFile =
  | { readonly name: string; readonly value: string }
  | (Mistake & { readonly hint: string; readonly at: number });
/** `end`: where the next line starts. */
type Step = { readonly found: FoundEnvFile | null; readonly end: number };

export function parseEnvFile(source: string): EnvFile {
  const text = source.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const entries = new Map<string, string>();
  const problems: EnvProblem[] = [];
  for (let from = 0, line = 1; from < text.length; ) {
    const { found, end } = readEntry(text, from);
    if (found && 'name' in found) entries.set(found.name, found.value);
    else if (found) {
      const before = text.slice(from, found.at).split('\n');
      const { message, hint } = found;
      problems.push({ line: line + before.length - 1, column: before.at(-1)!.length + 1, message, hint });
    }
    line += text.slice(from, end).split('\n').length - 1;
    from = end;
  }
  return { entries, problems };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const NAME_HINT = 'Use letters, digits and underscores, starting with a letter or an underscore.';

function readEntry(text: string, from: number): Step {
  const newline = text.indexOf('\n', from);
  const lineEnd = newline < 0 ? text.length : newline;
  const end = lineEnd + 1;
  const line = text.slice(from, lineEnd);
  if (/^\s*(?:#|$)/.test(line)) return { found: null, end };
  const wrong = (column: number, message: string, hint: string): Step => ({
    found: { at: from + column, message, hint },
    end,
  });
  const [start = '', before = '', name = '', equals] = /^(\s*(?:export\s+)?)([^=\s]*)\s*(=?)[^\S\n]*/.exec(line) ?? [];
  if (line.includes('\0')) return wrong(line.indexOf('\0'), 'the line contains a NUL byte', 'Remove it.');
  if (equals !== '=') return wrong(before.length, 'this is not KEY=value', 'Write KEY=value, or # for a comment.');
  if (!NAME.test(name)) return wrong(before.length, `${quoted(name)} cannot be the name of a variable`, NAME_HINT);
  const quote = line[start.length];
  if (quote === '"' || quote === "'") return readQuoted(text, from + start.length, name);
  // A `#` only starts a comment after white space: `#fff` and `a#b` are values, `A= # x` is an empty one.
  const rest = line.slice(line.indexOf('=') + 1);
  const comment = rest.search(/\s#/);
  return { found: { name, value: (comment < 0 ? rest : rest.slice(0, comment)).trim() }, end };
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };
const ESCAPES_HINT = 'Known are \\n \\r \\t \\" \\\\ \\$; write \\\\ for a backslash, or use single quotes.';

/** A quoted value may go over several lines, as keys and certificates do. `open` is the place of its first quote. */
function readQuoted(text: string, open: number, name: string): Step {
  const isDouble = text[open] === '"';
  const close = isDouble ? closingQuote(text, open + 1) : text.indexOf("'", open + 1);
  // Where it should have ended is anybody's guess, so nothing is said about the rest of the file.
  if (close < 0)
    return {
      found: { at: open, message: 'the quote is not closed', hint: 'Add the closing quote.' },
      end: text.length,
    };
  const newline = text.indexOf('\n', close);
  const lineEnd = newline < 0 ? text.length : newline;
  const wrong = (at: number, message: string, hint: string): Step => ({
    found: { at, message, hint },
    end: lineEnd + 1,
  });
  if (!/^\s*$|^\s+#/.test(text.slice(close + 1, lineEnd))) {
    return wrong(close + 1, 'something follows the closing quote', 'Put the whole value inside the quotes.');
  }
  const inner = text.slice(open + 1, close);
  if (inner.includes('\0')) return wrong(open + 1 + inner.indexOf('\0'), 'the line contains a NUL byte', 'Remove it.');
  if (!isDouble) return { found: { name, value: inner }, end: lineEnd + 1 };
  for (const { 1: escaped, index } of inner.matchAll(/\\(.)/gsu)) {
    if (!Object.hasOwn(ESCAPES, escaped!)) {
      return wrong(open + 1 + index, `${quoted(`\\${escaped}`)} is not known in double quotes`, ESCAPES_HINT);
    }
  }
  const value = inner.replace(/\\(.)/gsu, (_, escaped: string) => ESCAPES[escaped] ?? '');
  return { found: { name, value }, end: lineEnd + 1 };
}

/** The next double quote that no backslash protects; -1 when there is none. */
function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '"') return at;
    if (text[at] === '\\') at += 1;
  }
  return -1;
}
