/** What the facts say now: where NAME.log begins, and how far it reached at least. */
import { findLastFact } from './fact-search.ts';
import { FactStream } from './fact-stream.ts';
import { steadily } from './files.ts';

export class FactBook {
  readonly #path: string;
  #stream: FactStream | null = null;
  #base: number | null = null;
  #known = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** As it is at this moment; null: nobody wrote it down. */
  base(): number | null {
    if (!this.#stream?.refresh()) this.#begin();
    for (let fact = this.#stream!.next(); fact; fact = this.#stream!.next()) {
      if (fact.kind === 'base') this.#base = fact.position;
      this.#known = Math.max(this.#known, fact.position);
    }
    return this.#base;
  }

  /** A position that was reached when `base` was last asked for. */
  get known(): number {
    return this.#known;
  }

  #begin(): void {
    steadily(this.#path, () => {
      this.#base = findLastFact(this.#path, 'base')?.fact.position ?? null;
      this.#stream = new FactStream(this.#path, findLastFact(this.#path, 'at')?.offset ?? 0);
    });
    this.#known = this.#base ?? 0;
  }
}
