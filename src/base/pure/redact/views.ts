/**
 * A text as people see it. Programs colour their output: `password`, a colour, `=`, a colour, the value. Secrets with colours between
 * are found in the text without them. The text with blanks in place of colours has two more: what would hang together with the word
 * before it, and what stands inside a longer sequence, such as the title of a window.
 */
import { COLOUR, ESCAPE_SEQUENCE } from '../escapes.ts';
import type { Span } from './span.ts';

export interface View {
  readonly text: string;
  /** The span in the original text. */
  original(span: Span): Span;
}

const asIs = (text: string): View => ({ text, original: (span) => span });

export function viewsOf(text: string): readonly View[] {
  if (!text.includes('\u001b')) return [asIs(text)];
  return [without(text, ESCAPE_SEQUENCE, ''), without(text, COLOUR, ' ')];
}

function without(text: string, sequences: RegExp, instead: string): View {
  const kept: string[] = [];
  /** For each character of the view, its place in the original. */
  const places = new Uint32Array(text.length);
  let length = 0;
  let from = 0;
  const keep = (to: number) => {
    kept.push(text.slice(from, to));
    for (let at = from; at < to; at++) places[length++] = at;
  };
  for (const { 0: sequence, index } of text.matchAll(sequences)) {
    keep(index);
    kept.push(instead);
    for (let n = 0; n < instead.length; n++) places[length++] = index;
    from = index + sequence.length;
  }
  keep(text.length);
  return {
    text: kept.join(''),
    original: (span) =>
      span.to <= span.from ? { from: 0, to: 0 } : { from: places[span.from]!, to: places[span.to - 1]! + 1 },
  };
}
