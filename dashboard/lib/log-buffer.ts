/** The lines of a log view: in order, bounded, and in sections of which whole ones are drawn and dropped. */
import type { LogLineView } from '../../src/logs/ports.ts';

export const SECTION_LINES = 100;
export const MAX_LINES = 20_000;

export interface Section {
  readonly id: number;
  readonly lines: readonly LogLineView[];
}

/** Lines come in, full sections and an open one come out. What is too old goes, a section at a time. */
export class LogBuffer {
  readonly #max: number;
  #sections: { id: number; lines: LogLineView[] }[] = [];
  #next = 0;
  /** Of everything that ever came, without what was dropped. */
  #size = 0;
  dropped = 0;

  constructor(max = MAX_LINES) {
    this.#max = max;
  }

  get sections(): readonly Section[] {
    return this.#sections;
  }
  get size(): number {
    return this.#size;
  }
  get lines(): readonly LogLineView[] {
    return this.#sections.flatMap(({ lines }) => lines);
  }

  push(lines: readonly LogLineView[]): void {
    for (const line of lines) {
      let last = this.#sections.at(-1);
      if (last === undefined || last.lines.length >= SECTION_LINES) {
        last = { id: this.#next++, lines: [] };
        this.#sections.push(last);
      }
      last.lines.push(line);
    }
    this.#size += lines.length;
    while (this.#size > this.#max && this.#sections.length > 1) {
      const gone = this.#sections.shift()!.lines.length;
      this.#size -= gone;
      this.dropped += gone;
    }
  }
}

/** Lines of several components, each from old to new, in the order in which they were written. Lines without a time stay behind the one before. */
export function merged(lines: readonly LogLineView[]): readonly LogLineView[] {
  const lastAt = new Map<string, number>();
  const timed = lines.map((line, index) => {
    const at = Math.max(line.at === null ? 0 : Date.parse(line.at), lastAt.get(line.component) ?? 0);
    lastAt.set(line.component, at);
    return { line, at, index };
  });
  return timed.sort((one, other) => one.at - other.at || one.index - other.index).map(({ line }) => line);
}

/** Where to go on after an interruption: `api:1200,worker:77`, those that wrote last first, as long as an address may be. */
export function positionsAfter(last: ReadonlyMap<string, number>, maxChars = 7_900): string {
  let text = '';
  for (const [name, offset] of [...last].reverse()) {
    const more = `${text === '' ? '' : ','}${name}:${offset}`;
    if (text.length + more.length > maxChars) break;
    text += more;
  }
  return text;
}

/** What stands between two lines of the same component; null: nothing. */
export function boundary(before: LogLineView | undefined, line: LogLineView): string | null {
  if (line.lost_bytes > 0) return `${line.lost_bytes} bytes before this are no longer kept`;
  if (before === undefined || line.run === null || before.run === null || before.run === line.run) return null;
  return 'a new run begins';
}
