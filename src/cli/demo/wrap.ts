/** Breaks a line between words; colours take no room. */
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../print/width.ts';

/** A word that is too long for a line stays whole: it may be a path that somebody wants to copy. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && displayWidth(stripVTControlCharacters(longer)) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
