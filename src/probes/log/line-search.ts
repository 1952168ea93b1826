/** Some patterns, looked for in what is written to one log from a place on, until it is closed. */
import type { Pattern } from '../../supervision/rules/health/pattern.ts';
import { Follower, type FollowWorld } from './follower.ts';
import { LinePatterns, type OnRetired } from './line-patterns.ts';
import { countLines, lineAt } from './lines.ts';
import type { PatternDesk } from './pattern-matcher.ts';

export interface SearchWorld extends FollowWorld {
  readonly desk: PatternDesk;
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
    this.#patterns = new LinePatterns(patterns, world.desk, onRetired);
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
