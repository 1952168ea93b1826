/** Private keys over several lines, also when one end of them is missing, when something stands before each line, or inside JSON. */
import { HIDDEN } from './hidden.ts';

const KIND = '(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----';
const BEGIN = new RegExp(`-----BEGIN ${KIND}`);
const END = new RegExp(`-----END ${KIND}`);
const EVERY_END = new RegExp(END, 'g');
const ON_ONE_LINE = new RegExp(`-----BEGIN ${KIND}(?:[^-\\n]|-(?!----))*-----END ${KIND}`, 'g');
const PUTTY = /^(.*\bPrivate-Lines: )\d{1,4}\s*$/;
/** A long run at the end of a line, behind whatever a collector wrote before it. */
const BODY = /(?:^|[\s|:>\]"'])[A-Za-z0-9+/]{16,80}={0,2}(?:\\n)?["',]{0,2}$/;
const LAST = /^[A-Za-z0-9+/]{2,80}={0,2}$|[\s|:>\]][A-Za-z0-9+/]{2,80}={1,2}$/;
const HEADER = /\b(?:Proc-Type|DEK-Info|Version|Comment): |^\s*$/;
/** On one line: the body with its line ends escaped. */
const REST = /^(?:\\[nr]|[A-Za-z0-9+/=]|\s)*/;
const REST_BEFORE = /(?:\\[nr]|[A-Za-z0-9+/=])*$/;
const MAX_BODY_LINE_CHARS = 400;
/** A key of 16 384 bits has about so many lines. */
const MAX_KEY_LINES = 220;

export function hidePrivateKeys(text: string): string {
  if (!text.includes('PRIVATE KEY') && !text.includes('Private-Lines')) return text;
  const lines = text.replace(ON_ONE_LINE, HIDDEN).split('\n');
  const ends = lines.flatMap((line, at) => (END.test(line) ? [at] : []));
  const kept: string[] = [];
  let nextEnd = 0;
  for (let at = 0; at < lines.length; at++) {
    while (nextEnd < ends.length && ends[nextEnd]! < at) nextEnd++;
    const line = lines[at]!;
    if (BEGIN.test(line)) {
      const last = lastLine(lines, at, ends[nextEnd]);
      kept.push(joined(line, lines[last]!, last === at));
      at = last;
    } else if (END.test(line)) {
      dropBody(kept);
      kept.push(withoutBefore(line));
    } else if (PUTTY.test(line)) {
      kept.push(line.replace(PUTTY, `$1${HIDDEN}`));
      while (isBody(lines[at + 1])) at++;
    } else kept.push(line);
  }
  return kept.join('\n');
}

const isBody = (line: string | undefined): boolean =>
  line !== undefined && line.length <= MAX_BODY_LINE_CHARS && BODY.test(line);

/** Of the key that begins at `first`: where it ends, or where lines stop to look like one. */
function lastLine(lines: readonly string[], first: number, end: number | undefined): number {
  if (end !== undefined && end - first <= MAX_KEY_LINES) return end;
  let last = first;
  while (
    isBody(lines[last + 1]) ||
    (last < first + 4 && HEADER.test(lines[last + 1] ?? '-') && isBody(lines[last + 2]))
  )
    last++;
  // The last line of a key is short; so is what a program writes next, which is then lost.
  if (last > first && (lines[last + 1]?.length ?? Infinity) <= MAX_BODY_LINE_CHARS && LAST.test(lines[last + 1]!))
    last++;
  return last;
}

/** What stands before the key in its first line, and behind it in its last. */
function joined(first: string, last: string, isOneLine: boolean): string {
  const begin = BEGIN.exec(first)!;
  const before = first.slice(0, begin.index);
  const end = END.exec(last);
  if (end) return `${before}${HIDDEN}${withoutMarks(last, end)}`;
  if (!isOneLine) return `${before}${HIDDEN}`;
  const rest = first.slice(begin.index + begin[0].length);
  return `${before}${HIDDEN}${rest.slice(REST.exec(rest)![0].length)}`;
}

/** What follows a key in its last line. */
const withoutMarks = (line: string, end: RegExpExecArray): string =>
  line.slice(end.index + end[0].length).replace(EVERY_END, HIDDEN);

/** The beginning of the key is missing: its lines have been kept already. */
function dropBody(kept: string[]): void {
  const length = kept.length;
  if (
    length > 0 &&
    kept[length - 1]!.length <= MAX_BODY_LINE_CHARS &&
    LAST.test(kept[length - 1]!) &&
    isBody(kept[length - 2])
  )
    kept.pop();
  while (kept.length > 0 && isBody(kept.at(-1))) kept.pop();
}

function withoutBefore(line: string): string {
  const end = END.exec(line)!;
  const before = line.slice(0, end.index);
  const body = before.length - lengthOfBody(before);
  return `${before.slice(0, body)}${HIDDEN}${withoutMarks(line, end)}`;
}

/** From the back, because an expression that must end at the end would be tried at each character. */
function lengthOfBody(before: string): number {
  let at = before.length;
  while (at > 0 && /[A-Za-z0-9+/=\\]/.test(before[at - 1]!)) at--;
  return REST_BEFORE.exec(before.slice(at))?.[0].length ?? 0;
}
