/** What a command line program said, for people. */
import { withoutEscapes } from '../../base/pure/escapes.ts';

const MAX_LINE = 300;

/** The last of its lines that say something. */
export function lastLines(text: string, count: number): string {
  const lines = withoutEscapes(text)
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim().slice(0, MAX_LINE))
    .filter((line) => line !== '');
  return lines.slice(-count).join('\n');
}
