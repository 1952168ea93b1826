/** Some patterns, looked for in what is written to one log from a place on, until it is closed. */
import type { Pattern } from '../../supervision/rules/health/pattern.ts';
import { Follower, type FollowWorld } from './follower.ts';
import { MAX_FOUND } from './limits.ts';
import { countLines, lineAt, linesWith } from './log-file.ts';
import type { MatcherClient, PatternMatcher } from './pattern-matcher.ts';

export interface SearchWorld extends FollowWorld {
  readonly matcher: PatternMatcher;
  /** All that have not ended. */
  readonly searches: Set<LineSearch>;
}

export interface FoundLine {
  readonly pattern: Pattern;
  readonly line: string;
  /** Counted from where the search began. */
  readonly number: number;
}

export interface SearchOptions {
  readonly path: string;
  readonly from: number;
  readonly patterns: readonly Pattern[];
  onFound(found: FoundLine): void;
  readonly onRetired: OnRetired;
}

export class LineSearch {
  readonly follower: Follower;
  readonly #patterns: LinePatterns;
  readonly #options: SearchOptions;
  readonly #world: SearchWorld;
  #closing: Promise<void> | null = null;

  constructor(options: SearchOptions, world: SearchWorld) {
    const { path, from, patterns, onRetired } = options;
    this.#options = options;
    this.#world = world;
    this.#patterns = new LinePatterns(patterns, world.matcher, onRetired);
    this.follower = new Follower({ path, from, onLines: (lines) => this.#search(lines) }, world);
    world.searches.add(this);
  }

  /** Finds nothing more. Resolves when the file is closed. */
  close(): Promise<void> {
    this.#patterns[Symbol.dispose]();
    this.#closing ??= this.follower.close().then(() => void this.#world.searches.delete(this));
    return this.#closing;
  }

  async #search(lines: string): Promise<void> {
    let counted = 0;
    let number = this.follower.linesRead + 1;
    for (const { pattern, start } of await this.#patterns.find(lines)) {
      if (this.#closing !== null) return;
      number += countLines(lines, counted, start);
      counted = start;
      this.#tell({ pattern, number, line: lineAt(lines, start) });
    }
  }

  #tell(found: FoundLine): void {
    try {
      this.#options.onFound(found);
    } catch (error) {
      this.#world.log.error('telling of a line failed, going on', { path: this.#options.path, error: String(error) });
    }
  }
}

// The patterns of one watcher, tried on whole lines. One that runs wild is retired; the others go on.

export interface FoundPattern {
  readonly pattern: Pattern;
  /** Where its line begins. */
  readonly start: number;
}

export type OnRetired = (pattern: Pattern, reason: string) => void;

export class LinePatterns implements Disposable {
  readonly #onRetired: OnRetired;
  readonly #seat: MatcherClient | null;
  #patterns: readonly Pattern[];

  constructor(patterns: readonly Pattern[], matcher: PatternMatcher, onRetired: OnRetired) {
    this.#patterns = patterns;
    this.#onRetired = onRetired;
    this.#seat = patterns.some(({ kind }) => kind === 'expression') ? matcher.seat() : null;
  }

  /** The lines that fit, in order; each once, with the first pattern it fits. At most `MAX_FOUND` for a pattern. */
  async find(lines: string): Promise<readonly FoundPattern[]> {
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
