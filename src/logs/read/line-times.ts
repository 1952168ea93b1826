/** When and by which run each line was written, asked from old to new: the facts are read along, never all held. */

import type { Moment } from '../format.ts';
import { findLastFact } from './fact-search.ts';
import { FactStream } from './fact-stream.ts';
import { steadily } from './files.ts';

export interface Written {
  /** Milliseconds since 1970; null: not known. */
  readonly atMs: number | null;
  readonly run: string | null;
}

type Dated =
  | Moment
  | { readonly kind: 'run'; readonly position: number; readonly wallMs: number; readonly run: string };

export class LineTimes {
  readonly #path: string;
  #stream: FactStream | null = null;
  /** The first one behind what was asked for last. */
  #next: Dated | null = null;
  /** There is a fact at or before what was asked for last: only what lies between two of them has a time. */
  #isBetween = false;
  #run: string | null = null;
  #asked = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** To be called before a number of lines is asked about. */
  refresh(): void {
    if (this.#stream?.refresh() === false) this.#stream = null;
  }

  /** `latestMs`: when the log was last written to, for what is newer than the facts. */
  of(position: number, latestMs: number | null): Written {
    if (!this.#stream || position < this.#asked) this.#begin(position);
    this.#asked = position;
    for (this.#next ??= this.#pull(); this.#next && this.#next.position <= position; this.#next = this.#pull()) {
      this.#isBetween = true;
      if (this.#next.kind === 'run') this.#run = this.#next.run;
    }
    const atMs = this.#isBetween ? (this.#next?.wallMs ?? latestMs) : null;
    return { atMs, run: this.#run };
  }

  #pull(): Dated | null {
    for (;;) {
      const fact = this.#stream!.next();
      if (fact === null || fact.kind !== 'base') return fact;
    }
  }

  #begin(position: number): void {
    steadily(this.#path, () => {
      const moment = findLastFact(this.#path, 'at', (fact) => fact.position <= position);
      const run = findLastFact(this.#path, 'run', (fact) => fact.position <= position);
      this.#run = run?.fact.run ?? null;
      this.#isBetween = moment !== null || run !== null;
      this.#stream = new FactStream(this.#path, moment?.offset ?? 0);
    });
    this.#next = null;
  }
}
