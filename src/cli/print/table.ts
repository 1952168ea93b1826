/** Aligned columns without borders: readable for people, greppable, and `awk '{print $2}'` works. */
import type { Brush } from './colour.ts';
import { displayWidth, shorten } from './width.ts';

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
