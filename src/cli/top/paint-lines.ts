/** What must be written so that a terminal shows these lines instead of those: the changed ones only, all at once. Pure. */

/** A terminal that knows it shows nothing before the end; others ignore it. */
const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';
const CLEAR = '\u001b[2J';
/** Before the line, not behind it: at the right edge it would take the last character. */
const CLEAR_LINE = '\u001b[K';
const PLAIN = '\u001b[0m';

/** `before`: null when nobody knows what is there. Empty: nothing has to be written. */
export function paintLines(before: readonly string[] | null, after: readonly string[]): string {
  const count = Math.max(before?.length ?? 0, after.length);
  let text = before === null ? CLEAR : '';
  for (let at = 0; at < count; at += 1) {
    const line = after[at] ?? '';
    if (line !== (before === null ? '' : (before[at] ?? ''))) text += `\u001b[${at + 1};1H${CLEAR_LINE}${line}${PLAIN}`;
  }
  return text === '' ? '' : `${BEGIN}${text}${END}`;
}
