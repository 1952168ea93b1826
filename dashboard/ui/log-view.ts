/** Draws a log: sections of a hundred lines that the browser skips while they are out of sight. Text only. */
import type { LogLineView } from '../../src/logs/ports.ts';
import { ansiSpans, plainText } from '../lib/ansi.ts';
import { clock } from '../lib/format.ts';
import { levelOf } from '../lib/level.ts';
import { boundary, LogBuffer, SECTION_LINES } from '../lib/log-buffer.ts';
import { hrefOf } from '../lib/route.ts';
import { MAX_SHOWN } from './line-text.tsx';

export class LogView {
  readonly buffer = new LogBuffer();
  readonly #box: HTMLElement;
  readonly #showNames: boolean;
  readonly #last = new Map<string, LogLineView>();
  #waiting: LogLineView[] = [];
  #frame = 0;
  #drawn = 0;
  isFollowing = true;
  onDrawn: () => void = () => {};

  constructor(box: HTMLElement, showNames: boolean) {
    this.#box = box;
    this.#showNames = showNames;
  }

  /** Drawn with the next frame, however many come before it. */
  push(lines: readonly LogLineView[]): void {
    this.#waiting.push(...lines);
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    const lines = this.#waiting;
    this.#waiting = [];
    this.buffer.push(lines);
    for (const line of lines.slice(-20_000)) this.#append(line);
    while (this.#box.children.length > this.buffer.sections.length + 1) this.#box.firstElementChild!.remove();
    this.#toEnd();
    // What came into sight has its true height only now.
    requestAnimationFrame(() => this.#toEnd());
    this.onDrawn();
  }

  #toEnd(): void {
    if (this.isFollowing) this.#box.scrollTop = this.#box.scrollHeight;
  }

  #append(line: LogLineView): void {
    let section = this.#box.lastElementChild;
    if (section === null || this.#drawn % SECTION_LINES === 0) {
      section = document.createElement('div');
      section.className = 'section';
      this.#box.append(section);
    }
    this.#drawn += 1;
    const rule = boundary(this.#last.get(line.component), line);
    this.#last.set(line.component, line);
    if (rule !== null) {
      const mark = document.createElement('div');
      mark.className = 'boundary';
      mark.textContent = `${line.component}: ${rule}`;
      section.append(mark);
    }
    section.append(this.#line(line));
  }

  #line({ component, line, at, cut_bytes }: LogLineView): HTMLElement {
    const row = document.createElement('div');
    const level = levelOf(plainText(line.slice(0, MAX_SHOWN)));
    row.className = level === null ? 'logline' : `logline l-${level}`;
    row.append(at === null ? span('at', '') : timeLink(at));
    if (this.#showNames) row.append(span('who', component));
    const text = span('text', '');
    for (const { text: part, classes } of ansiSpans(line.slice(0, MAX_SHOWN)))
      text.append(classes === '' ? part : span(classes, part));
    const more = Math.max(0, line.length - MAX_SHOWN) + cut_bytes;
    if (more > 0) text.append(span('more', ` … ${more} more`));
    row.append(text);
    return row;
  }

  clear(): void {
    cancelAnimationFrame(this.#frame);
    this.#box.replaceChildren();
  }
}

/** To what happened then. */
function timeLink(at: string): HTMLElement {
  const link = document.createElement('a');
  link.className = 'at';
  link.href = hrefOf('events', null, { at });
  link.title = 'What happened then';
  link.tabIndex = -1; // one tab stop for each line would be thousands
  link.textContent = clock(at);
  return link;
}

function span(classes: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = classes;
  element.textContent = text;
  return element;
}
