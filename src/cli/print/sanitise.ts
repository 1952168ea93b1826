/**
 * Makes text from components harmless on a terminal: control characters, escape sequences and bidirectional controls go,
 * text always stays. Works on whole lines, so an escape sequence cut in two by a chunk border never gets here.
 */

/** Anything to look at? Most lines have nothing. */
const SUSPECT = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const ESC = 0x1b;
/** Sequences that run until a terminator: OSC, DCS, SOS, PM, APC; as ESC + letter, and as one C1 character. */
const STRINGS = new Set([0x5d, 0x50, 0x58, 0x5e, 0x5f]);
const C1_STRINGS = new Set([0x9d, 0x90, 0x98, 0x9e, 0x9f]);
const C1_CSI = 0x9b;

const SGR = /^\u001b\[[0-9;:]*m$/;
const RESET = '\u001b[0m';

export interface SanitiseOptions {
  /** Keep colours and the like (SGR); what is still on at the end is switched off. */
  readonly colours: boolean;
}

const PLAIN: SanitiseOptions = { colours: false };

/** One line. */
export function sanitise(line: string, { colours }: SanitiseOptions = PLAIN): string {
  if (!SUSPECT.test(line)) return line;
  const text = line.replace(/\r+$/, '');
  const scan = new Scan(text);
  let clean = '';
  let coloured = false;
  while (scan.at < text.length) {
    const start = scan.at;
    const code = text.charCodeAt(start);
    if (code === ESC || code === C1_CSI || C1_STRINGS.has(code)) {
      scan.skipSequence();
      const sequence = text.slice(start, scan.at);
      if (colours && SGR.test(sequence)) {
        clean += sequence;
        coloured = true;
      }
      continue;
    }
    scan.at++;
    if (code === 0x0d)
      clean += ' '; // a progress bar painting over itself: everything it said, side by side
    else if (code === 0x09 || !SUSPECT.test(text[start]!)) clean += text[start];
  }
  return coloured ? clean + RESET : clean;
}

/** Several lines: the line breaks stay. */
export const sanitiseText = (text: string, options: SanitiseOptions = PLAIN): string =>
  text
    .split('\n')
    .map((line) => sanitise(line, options))
    .join('\n');

/** As one line, for a cell of a table or a sentence. */
export const oneLine = (text: string): string => sanitise(text.replaceAll('\n', ' '));

class Scan {
  at = 0;
  readonly #text: string;
  /** No terminator from here on. Remembered, or a line full of unfinished sequences would take quadratic time. */
  #endless = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves behind the escape sequence that begins here. An unfinished one loses its introducer only: text is never hidden. */
  skipSequence(): void {
    const first = this.#text.charCodeAt(this.at++);
    const second = this.#text.charCodeAt(this.at);
    const escaped = first === ESC && (second === 0x5b || STRINGS.has(second));
    if (escaped) this.at++;
    if (first === C1_CSI || (escaped && second === 0x5b)) this.#skipParameters();
    else if (C1_STRINGS.has(first) || escaped) this.#skipString();
    else {
      this.#skipWhile(0x20, 0x2f);
      this.#skipOne(0x30, 0x7e);
    }
  }

  /** The rest of CSI: parameters, intermediates, one final character. */
  #skipParameters(): void {
    this.#skipWhile(0x30, 0x3f);
    this.#skipWhile(0x20, 0x2f);
    this.#skipOne(0x40, 0x7e);
  }

  /** Until ST (ESC \ or C1) or BEL, which ends the ones that terminals know best. */
  #skipString(): void {
    if (this.#endless) return;
    const rest = /\u0007|\u001b\\|\u009c/g;
    rest.lastIndex = this.at;
    const end = rest.exec(this.#text);
    if (end) this.at = rest.lastIndex;
    else this.#endless = true;
  }

  #skipWhile(from: number, to: number): void {
    while (this.#is(from, to)) this.at++;
  }

  #skipOne(from: number, to: number): void {
    if (this.#is(from, to)) this.at++;
  }

  #is(from: number, to: number): boolean {
    const code = this.#text.charCodeAt(this.at); // NaN at the end: neither below nor above
    return code >= from && code <= to;
  }
}
