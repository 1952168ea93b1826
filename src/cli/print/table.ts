/** Aligned columns without borders: readable for people, greppable, and `awk '{print $2}'` works. */
import type { Brush } from './colour.ts';

export interface Cell {
  readonly text: string;
  readonly brush?: Brush;
}

const GAP = '  ';

/** The last column is as long as it is, or cut at `columns`. An empty cell in the middle is a dash, so that columns can be counted. */
export function table(header: readonly string[], rows: readonly (readonly Cell[])[], columns?: number): string[] {
  const lines: (readonly Cell[])[] = [header.map((text) => ({ text })), ...rows];
  const last = header.length - 1;
  const widths = header.map((_, index) =>
    lines.reduce((widest, cells) => Math.max(widest, displayWidth(shown(cells[index], index < last))), 0),
  );
  return lines.map((cells) => {
    let used = 0;
    const parts = header.map((_, index) => {
      const text = shown(cells[index], index < last);
      const cut = index === last && columns !== undefined ? shorten(text, Math.max(0, columns - used)) : text;
      const padding = index === last ? '' : ' '.repeat(widths[index]! - displayWidth(text));
      used += widths[index]! + GAP.length;
      return `${(cells[index]?.brush ?? plain)(cut)}${padding}`;
    });
    return parts.join(GAP).trimEnd();
  });
}

const plain: Brush = (text) => text;
const shown = (cell: Cell | undefined, dashed: boolean): string => cell?.text || (dashed ? '-' : '');

// How many columns a text takes on a terminal.

/** East Asian wide and full-width ranges, and emoji that are drawn as pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const ZERO = /[\p{Mn}\p{Me}\p{Cf}]/u;
const ASCII = /^[\u0020-\u007e]*$/;

const widthOf = (char: string): number => (ZERO.test(char) ? 0 : WIDE.test(char) ? 2 : 1);

export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += widthOf(char);
  return width;
}

/** At most `columns` wide, with a mark where something was left out. */
export function shorten(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = '';
  let width = 1; // the mark
  for (const char of text) {
    width += widthOf(char);
    if (width > columns) break;
    kept += char;
  }
  return columns > 0 ? `${kept}…` : '';
}
