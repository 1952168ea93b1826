/** Text that others wrote, before it becomes part of a ticket: without secrets, colours and invisible characters, and not too long. */
import { withoutEscapes } from '../../../base/pure/escapes.ts';
import { redact } from '../../../base/pure/redact.ts';

/** Controls, and characters that change the direction or hide what is there. Tabs and line ends stay. */
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ufe00-\ufe0f]|\p{Surrogate}|[\u{e0000}-\u{e0fff}]/gu;

/** So much is looked at: what follows is cut in any case. */
const MAX_READ_CHARS = 256 * 1024;
const LEFT_OUT = '…';

/** Several lines. `known`: values that must never appear. */
export function cleanText(text: string, maxChars: number, known: readonly string[] = []): string {
  const cut = text.length > MAX_READ_CHARS;
  const plain = withoutEscapes(text.slice(-MAX_READ_CHARS)).replace(/\r\n?/g, '\n').replace(INVISIBLE, '');
  return lastChars(redact(plain, known, { start: cut }), maxChars);
}

/** One line, cut at its end. */
export function cleanLine(text: string, maxChars: number, known: readonly string[] = []): string {
  const start = text.slice(0, MAX_READ_CHARS);
  const plain = withoutEscapes(start).replace(INVISIBLE, '');
  const line = redact(plain, known, { end: start.length < text.length })
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= maxChars ? line : `${whole(line.slice(0, maxChars - 1)).trimEnd()}${LEFT_OUT}`;
}

/** The end of a log tells more than its beginning. Cut at a line where there is one near. */
function lastChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(2 + LEFT_OUT.length - maxChars);
  const lineEnd = kept.indexOf('\n');
  return `${LEFT_OUT}\n${lineEnd >= 0 && lineEnd < kept.length / 2 ? kept.slice(lineEnd + 1) : kept}`;
}

/** Without half of a character at its end. */
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');
