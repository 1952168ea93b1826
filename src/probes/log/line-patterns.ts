/** The patterns of one watcher, tried on whole lines. One that runs wild is retired; the others go on. */
import type { Pattern } from '../../supervision/rules/health/pattern.ts';
import { MAX_FOUND } from './limits.ts';
import { linesWith } from './lines.ts';
import type { DeskSeat, PatternDesk } from './pattern-matcher.ts';

export interface Found {
  readonly pattern: Pattern;
  /** Where its line begins. */
  readonly start: number;
}

export type OnRetired = (pattern: Pattern, reason: string) => void;

export class LinePatterns implements Disposable {
  readonly #onRetired: OnRetired;
  readonly #seat: DeskSeat | null;
  #patterns: readonly Pattern[];

  constructor(patterns: readonly Pattern[], desk: PatternDesk, onRetired: OnRetired) {
    this.#patterns = patterns;
    this.#onRetired = onRetired;
    this.#seat = patterns.some(({ kind }) => kind === 'expression') ? desk.seat() : null;
  }

  /** The lines that fit, in order; each once, with the first pattern it fits. At most `MAX_FOUND` for a pattern. */
  async find(lines: string): Promise<readonly Found[]> {
    const found = new Map<number, Pattern>();
    for (const pattern of this.#patterns) {
      for (const start of await this.#starts(pattern, lines)) if (!found.has(start)) found.set(start, pattern);
    }
    return [...found].map(([start, pattern]) => ({ start, pattern })).sort((a, b) => a.start - b.start);
  }

  [Symbol.dispose](): void {
    this.#patterns = [];
    this.#seat?.[Symbol.dispose]();
  }

  async #starts(pattern: Pattern, lines: string): Promise<readonly number[]> {
    if (pattern.kind === 'text') return linesWith(lines, pattern.text, MAX_FOUND);
    const reply = await this.#seat!.ask(pattern, lines);
    if (!reply) return [];
    if ('starts' in reply) return reply.starts;
    this.#retire(pattern, reply.error);
    return [];
  }

  #retire(pattern: Pattern, reason: string): void {
    this.#patterns = this.#patterns.filter((one) => one !== pattern);
    if (!this.#patterns.some(({ kind }) => kind === 'expression')) this.#seat?.[Symbol.dispose]();
    this.#onRetired(pattern, reason);
  }
}
