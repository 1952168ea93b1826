/** What several parsers need. */
import type { RawFrame } from '../crash.ts';

/** Lines of other threads between two lines of one stack. */
export const MAX_FOREIGN_LINES = 20;
/** A message of more lines than this is data. */
export const MAX_MESSAGE_LINES = 10;

export const frame = (
  name: string | undefined | null,
  file: string | undefined | null,
  line?: string,
  column?: string,
): RawFrame => ({
  function: name || null,
  file: file ? plainPath(file) : null,
  line: line === undefined ? null : Number(line),
  column: column === undefined ? null : Number(column),
});

/** Files as people name them, not as URLs. */
function plainPath(file: string): string {
  if (file.startsWith('file:///')) return decoded(file.slice('file://'.length));
  if (file.startsWith('webpack:///')) return file.slice('webpack:///'.length).replace(/^\.\//, '');
  return file;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';
export const isIndented = (line: string | undefined): boolean => line !== undefined && /^\s+\S/.test(line);

/** The last place of `items` for which `test` holds, looking back at most `reach` places from `end` (not included). */
export function lookBack(
  items: readonly string[],
  end: number,
  reach: number,
  test: (line: string) => boolean,
): number {
  for (let at = end - 1; at >= Math.max(0, end - reach); at--) if (test(items[at]!)) return at;
  return -1;
}
