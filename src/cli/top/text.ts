/** Pieces of one line on a terminal: harmless, and never wider than it may be. Pure. */
import type { Brush } from '../print/colour.ts';
import { oneLine } from '../print/sanitise.ts';
import { displayWidth, shorten } from '../print/table.ts';

export interface Part {
  readonly text: string;
  readonly brush?: Brush;
}

/** Text of others in one line without anything that moves the cursor. */
export const flat = (text: string): string => oneLine(text).replaceAll('\t', '    ');

export function lineOf(parts: readonly Part[], columns: number): string {
  let left = columns;
  let line = '';
  for (const { text, brush } of parts) {
    if (left <= 0 || text === '') continue;
    const cut = shorten(text, left);
    left -= displayWidth(cut);
    line += brush === undefined ? cut : brush(cut);
    if (cut !== text) break;
  }
  return line;
}

/** Exactly so wide. */
export const cell = (text: string, width: number, align: 'left' | 'right' = 'left'): string => {
  const cut = shorten(text, width);
  const blank = ' '.repeat(Math.max(0, width - displayWidth(cut)));
  return align === 'left' ? cut + blank : blank + cut;
};
