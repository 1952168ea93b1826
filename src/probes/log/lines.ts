/** Small questions about a text of whole lines, each ended by a line break. They cost one pass, however many lines there are. */

const NEWLINE = 0x0a;

export function countLines(lines: string, from = 0, end = lines.length): number {
  let count = 0;
  for (let at = from; at < end; at++) if (lines.charCodeAt(at) === NEWLINE) count++;
  return count;
}

/** The line that begins there. */
export const lineAt = (lines: string, start: number): string => lines.slice(start, lines.indexOf('\n', start));

/** Where the lines begin in which the text stands; the first `maxCount` of them. */
export function linesWith(lines: string, text: string, maxCount: number): number[] {
  const starts: number[] = [];
  for (let at = lines.indexOf(text); at >= 0 && starts.length < maxCount; ) {
    starts.push(lines.lastIndexOf('\n', at) + 1);
    at = lines.indexOf(text, lines.indexOf('\n', at) + 1);
  }
  return starts;
}
