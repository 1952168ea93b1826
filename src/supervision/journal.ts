/** Collects small facts and writes them in batches: a hundred a second must not be a hundred transactions. */

import type { Clock } from '../base/clock.ts';
import { after } from '../base/pure/ids.ts';

export interface JournalOptions<Fact> {
  readonly clock: Clock;
  readonly everyMs: number;
  /** A fact with the same key stands for the one before. */
  keyOf(fact: Fact): string;
  write(facts: readonly Fact[]): void;
}

export class Journal<Fact> {
  readonly #options: JournalOptions<Fact>;
  readonly #over = new AbortController();
  #changed = new Map<string, Fact>();
  #isWaiting = false;

  constructor(options: JournalOptions<Fact>) {
    this.#options = options;
  }

  readonly note = (fact: Fact): void => {
    const { clock, everyMs, keyOf } = this.#options;
    this.#changed.set(keyOf(fact), fact);
    if (this.#isWaiting || this.#over.signal.aborted) return;
    this.#isWaiting = true;
    clock.sleepUntil(after(clock.now(), everyMs), this.#over.signal).then(
      () => {
        this.#isWaiting = false;
        this.#flush();
      },
      () => {}, // closed, and flushed by that
    );
  };

  close(): void {
    this.#over.abort();
    this.#flush();
  }

  #flush(): void {
    if (this.#changed.size === 0) return;
    const facts = [...this.#changed.values()];
    this.#changed = new Map();
    this.#options.write(facts);
  }
}
