/** Colours of a terminal as classes, and nothing else of what a terminal would do: what moves, links or hides is left out, the text stays. */
import { sanitise } from '../../src/cli/print/sanitise.ts';

export interface Span {
  readonly text: string;
  /** Of style.css: "a1 ab" is red and bold. Empty: as everything else. */
  readonly classes: string;
}

interface Style {
  fg: number | null;
  bg: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

const plain = (): Style => ({
  ...{ fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, inverse: false },
});

const SGR = /\u001b\[([0-9;:]*)m/g;

/** One line. Text that is not finished, nested or hostile comes out as text. */
export function ansiSpans(line: string): readonly Span[] {
  if (!line.includes('\u001b')) return [{ text: sanitise(line), classes: '' }];
  const clean = sanitise(line, { colours: true });
  const spans: Span[] = [];
  let style = plain();
  let at = 0;
  for (const match of clean.matchAll(SGR)) {
    push(spans, clean.slice(at, match.index), style);
    style = applied(style, match[1]!);
    at = match.index + match[0].length;
  }
  push(spans, clean.slice(at), style);
  return spans;
}

/** Without any colour. */
export const plainText = (line: string): string => sanitise(line);

function push(spans: Span[], text: string, style: Style): void {
  if (text === '') return;
  const classes = classesOf(style);
  const last = spans.at(-1);
  if (last?.classes === classes) spans[spans.length - 1] = { text: last.text + text, classes };
  else spans.push({ text, classes });
}

function classesOf({ fg, bg, bold, dim, italic, underline, inverse }: Style): string {
  const [front, back] = inverse ? [bg, fg] : [fg, bg];
  return [
    ...(front === null ? [] : [`a${front}`]),
    ...(back === null ? [] : [`b${back}`]),
    ...(inverse && front === null && back === null ? ['ar'] : []),
    ...(bold ? ['ab'] : []),
    ...(dim ? ['ad'] : []),
    ...(italic ? ['ai'] : []),
    ...(underline ? ['au'] : []),
  ].join(' ');
}

function applied(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map((text) => (text === '' ? 0 : Number(text)));
  let style = { ...before };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]!;
    if (code === 0) style = plain();
    else if (code === 38 || code === 48) {
      const { colour, taken } = extended(codes.slice(at + 1));
      style[code === 38 ? 'fg' : 'bg'] = colour;
      at += taken;
    } else applyOne(style, code);
  }
  return style;
}

function applyOne(style: Style, code: number): void {
  if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 3) style.italic = true;
  else if (code === 4) style.underline = true;
  else if (code === 7) style.inverse = true;
  else if (code === 22) style.bold = style.dim = false;
  else if (code === 23) style.italic = false;
  else if (code === 24) style.underline = false;
  else if (code === 27) style.inverse = false;
  else if (code >= 30 && code <= 37) style.fg = code - 30;
  else if (code === 39) style.fg = null;
  else if (code >= 40 && code <= 47) style.bg = code - 40;
  else if (code === 49) style.bg = null;
  else if (code >= 90 && code <= 97) style.fg = code - 82;
  else if (code >= 100 && code <= 107) style.bg = code - 92;
}

/** 256 and true colours become the nearest of the sixteen, which have a shade for each theme. */
function extended(rest: readonly number[]): { readonly colour: number | null; readonly taken: number } {
  if (rest[0] === 5) return { colour: of256(rest[1] ?? 0), taken: 2 };
  if (rest[0] === 2) return { colour: nearest(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), taken: 4 };
  return { colour: null, taken: 1 };
}

function of256(code: number): number {
  if (code < 16) return code;
  if (code >= 232) return nearest((code - 232) * 10 + 8, (code - 232) * 10 + 8, (code - 232) * 10 + 8);
  const cube = code - 16;
  const level = (part: number): number => (part === 0 ? 0 : 55 + part * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  if (most < 48) return 0;
  if (most - Math.min(red, green, blue) < 40) return most > 200 ? 15 : most > 110 ? 7 : 8;
  const bits = [red, green, blue].reduce((sum, part, at) => sum + (part > most / 2 ? 1 << at : 0), 0);
  return most > 190 ? bits + 8 : bits;
}
