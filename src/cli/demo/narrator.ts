/** Tells the story: numbered steps, wrapped to the width of the terminal, and a sign of life while something is waited for. */

import { stripVTControlCharacters } from 'node:util';
import { formatDuration } from '../../base/pure/format.ts';
import type { Terminal } from '../call.ts';
import type { Paint } from '../print/colour.ts';
import { sanitise } from '../print/sanitise.ts';
import { displayWidth, shorten } from '../print/table.ts';

const INDENT = '   ';
/** Longer lines are hard to read, however wide the window is. */
const MAX_WIDTH = 100;
const MIN_WIDTH = 24;
const PIPE_WIDTH = 80;
/** A wait that is over sooner needs no words. */
const QUIET_MS = 1_000;
const REDRAW_MS = 100;
/** "  Decision: restart in 1 s": where the text goes on when it has to be broken. */
const LABELLED = /^(\s*(?:[A-Z][a-z]+: +)?)(.*)$/;
const FRAMES = ['|', '/', '-', '\\'] as const;

export interface NarratorOptions {
  readonly out: Terminal;
  readonly paint: Paint;
  /** Lines can be drawn over: a terminal that is not a dumb one. */
  readonly live: boolean;
  readonly steps: number;
}

export class Narrator {
  readonly #options: NarratorOptions;
  #step = 0;
  #drawn = false;
  #isHushed = false;
  /** What is waited for just now: the answer to "what was it doing?" when the time is up. */
  waitingFor: string | null = null;

  constructor(options: NarratorOptions) {
    this.#options = options;
  }

  get paint(): Paint {
    return this.#options.paint;
  }

  get width(): number {
    return Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, this.#options.out.columns ?? PIPE_WIDTH));
  }

  /** The room that is left beside the indentation. */
  get room(): number {
    return this.width - INDENT.length;
  }

  /** Says nothing any more. */
  hush(): void {
    this.#isHushed = true;
  }

  /** A line as it is. */
  line(text = ''): void {
    this.#erase();
    this.#write(`${text}\n`);
  }

  heading(text: string): void {
    this.#step += 1;
    this.line();
    this.line(this.paint.bold(`${this.#step}/${this.#options.steps} ${text}`));
  }

  say(text: string): void {
    for (const line of wrap(text, this.room)) this.line(INDENT + line);
  }

  /** Something that was typed, or could be. */
  command(text: string): void {
    this.line(INDENT + this.paint.cyan(`$ keepwell ${text}`));
  }

  /** Output of the product: the lines are its own, their breaks are ours. */
  output(lines: readonly string[]): void {
    for (const line of lines) {
      const [, start = '', text = ''] = LABELLED.exec(line) ?? [];
      const [first = '', ...rest] = wrap(text, this.room - start.length);
      this.line((INDENT + start + first).trimEnd());
      for (const part of rest) this.line(INDENT + ' '.repeat(start.length) + part);
    }
  }

  /** Lines that must not be broken. */
  table(lines: readonly string[]): void {
    for (const line of lines) this.line(INDENT + line);
  }

  /** What happened, and how long after the beginning of the step. */
  event(afterMs: number, text: string): void {
    const time = `${(afterMs / 1_000).toFixed(1)} s`.padStart(7);
    const [first = '', ...rest] = wrap(sanitise(text), this.room - time.length - 2);
    this.line(`${INDENT}${this.paint.dim(time)}  ${first}`);
    for (const line of rest) this.line(`${INDENT}${' '.repeat(time.length)}  ${line}`);
  }

  good(text: string): void {
    this.#mark(this.paint.green('✓'), text);
  }

  bad(text: string): void {
    this.#mark(this.paint.red('✗'), text);
  }

  #mark(mark: string, text: string): void {
    const [first = '', ...rest] = wrap(text, this.room);
    this.line(` ${mark} ${first}`);
    for (const line of rest) this.line(INDENT + line);
  }

  /** Shows that something is waited for, as long as it is. */
  async during<T>(what: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const outer = this.waitingFor;
    this.waitingFor = what;
    const { live } = this.#options;
    let frame = 0;
    const tick = (): void => {
      const waitedMs = performance.now() - began;
      if (waitedMs < QUIET_MS) return;
      if (live) this.#draw(`${FRAMES[frame++ % FRAMES.length]} waiting for ${what} (${formatDuration(waitedMs)})`);
      else if (frame++ === 0) this.say(`… waiting for ${what}`);
    };
    const timer = setInterval(tick, REDRAW_MS);
    try {
      const result = await work();
      this.waitingFor = outer;
      return result;
    } finally {
      clearInterval(timer);
      this.#erase();
    }
  }

  #draw(text: string): void {
    const cut = shorten(text, Math.max(0, (this.#options.out.columns ?? PIPE_WIDTH) - INDENT.length - 1));
    this.#write(`\r${INDENT}${this.paint.dim(cut)}\u001b[K`);
    this.#drawn = true;
  }

  #erase(): void {
    if (this.#drawn) this.#write('\r\u001b[K');
    this.#drawn = false;
  }

  #write(text: string): void {
    if (!this.#isHushed) this.#options.out.write(text);
  }
}

// Breaks a line between words; colours take no room.

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
