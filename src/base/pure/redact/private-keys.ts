/** Private keys over several lines, also when one end of them is missing, when something stands before each line, or inside JSON. */
import { type Span, spansOf } from './span.ts';

const KIND = '(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----';
const BEGIN = new RegExp(`-----BEGIN ${KIND}`);
const END = new RegExp(`-----END ${KIND}`);
const EVERY_END = new RegExp(END, 'g');
const ON_ONE_LINE = new RegExp(`-----BEGIN ${KIND}(?:[^-\\n]|-(?!----))*-----END ${KIND}`, 'g');
const PUTTY = /\bPrivate-Lines: (\d{1,4})\s*$/;
/** A long run at the end of a line, behind whatever a collector wrote before it. */
const BODY = /(?:^|[\s|:>\]"'])[A-Za-z0-9+/]{16,80}={0,2}(?:\\n)?["',]{0,2}$/;
const LAST = /^[A-Za-z0-9+/]{2,80}={0,2}$|[\s|:>\]][A-Za-z0-9+/]{2,80}={1,2}$/;
const HEADER = /\b(?:Proc-Type|DEK-Info|Version|Comment): |^\s*$/;
/** On one line: the body with its line ends escaped. */
const REST = /^(?:\\[nr]|[A-Za-z0-9+/=]|\s)*/;
const MAX_BODY_LINE_CHARS = 400;
/** A key of 16 384 bits has about so many lines. */
const MAX_KEY_LINES = 220;

export function privateKeysIn(text: string): readonly Span[] {
  if (!text.includes('PRIVATE KEY') && !text.includes('Private-Lines')) return [];
  const spans: Span[] = [...spansOf(text, ON_ONE_LINE), ...spansOf(text, EVERY_END)];
  const lines = linesOf(text);
  const ends = lines.flatMap(({ line }, at) => (END.test(line) ? [at] : []));
  let nextEnd = 0;
  /** Lines before this one are hidden, or belong to no key. */
  let free = 0;
  for (let at = 0; at < lines.length; at++) {
    while (nextEnd < ends.length && ends[nextEnd]! < at) nextEnd++;
    const { line, from } = lines[at]!;
    const begin = BEGIN.exec(line);
    if (begin) {
      const last = lastLine(lines, at, ends[nextEnd]);
      spans.push({ from: from + begin.index, to: endOfKey(lines[last]!, last === at ? begin : null) });
      at = last;
      free = at + 1;
    } else if (END.test(line)) {
      spans.push(keyBefore(lines, at, free));
      free = at + 1;
    } else {
      const [putty, count] = PUTTY.exec(line) ?? [];
      if (putty === undefined) continue;
      const countAt = from + line.lastIndexOf(putty) + putty.indexOf(count!);
      while (isBody(lines[at + 1])) at++;
      spans.push({ from: countAt, to: lines[at]!.to });
      free = at + 1;
    }
  }
  return spans;
}

interface Line extends Span {
  readonly line: string;
}

function linesOf(text: string): readonly Line[] {
  let from = 0;
  return text.split('\n').map((line) => {
    const to = from + line.length;
    const found = { line, from, to };
    from = to + 1;
    return found;
  });
}

const isBody = (line: Line | undefined): boolean =>
  line !== undefined && line.line.length <= MAX_BODY_LINE_CHARS && BODY.test(line.line);

/** Of the key that begins at `first`: where it ends, or where lines stop to look like one. */
function lastLine(lines: readonly Line[], first: number, end: number | undefined): number {
  if (end !== undefined && end - first <= MAX_KEY_LINES) return end;
  let last = first;
  while (
    isBody(lines[last + 1]) ||
    (last < first + 4 && HEADER.test(lines[last + 1]?.line ?? '-') && isBody(lines[last + 2]))
  )
    last++;
  // The last line of a key is short; so is what a program writes next, which is then lost.
  const next = lines[last + 1]?.line ?? '';
  if (last > first && next.length <= MAX_BODY_LINE_CHARS && LAST.test(next)) last++;
  return last;
}

/** Behind the mark that ends it; without one, behind what is left of it. `begin`: it begins in the same line. */
function endOfKey({ line, from, to }: Line, begin: RegExpExecArray | null): number {
  const end = END.exec(line);
  if (end) return from + end.index + end[0].length;
  if (begin === null) return to;
  const rest = begin.index + begin[0].length;
  return from + rest + REST.exec(line.slice(rest))![0].length;
}

/** The beginning of the key that ends in line `at` is missing: what looks like lines of it, but none before line `free`. */
function keyBefore(lines: readonly Line[], at: number, free: number): Span {
  const { line, from } = lines[at]!;
  const end = END.exec(line)!;
  let first = at;
  const before = lines[first - 1];
  if (
    first - 1 > free &&
    before!.line.length <= MAX_BODY_LINE_CHARS &&
    LAST.test(before!.line) &&
    isBody(lines[first - 2])
  )
    first--;
  while (first > free && isBody(lines[first - 1])) first--;
  const to = from + end.index + end[0].length;
  const ownBody = end.index - lengthOfBody(line.slice(0, end.index));
  return { from: first < at ? lines[first]!.from : from + ownBody, to };
}

/** From the back, because an expression that must end at the end would be tried at each character. Line ends may be escaped: \\n. */
function lengthOfBody(before: string): number {
  let at = before.length;
  while (at > 0 && /[A-Za-z0-9+/=]/.test(before[at - 1]!)) {
    const isEscape = /[nr]/.test(before[at - 1]!) && before[at - 2] === '\\';
    at -= isEscape ? 2 : 1;
  }
  return before.length - at;
}
