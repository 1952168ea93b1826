/** Records with a number, a fingerprint and an end, in memory: incidents and tickets alike. All that are open, the newest of the others. */
import { atMost } from './views.ts';

export interface Numbering<Item> {
  numberOf(item: Item): number;
  isOpen(item: Item): boolean;
  stateOf(item: Item): string;
  /** What the newest is found by. */
  caseOf(item: Item): string;
}

export interface NumberedQuery {
  readonly state?: string | undefined;
  readonly limit: number;
}

export class NumberedTable<Item> {
  readonly #max: number;
  readonly #numbering: Numbering<Item>;
  readonly #open = new Map<number, Item>();
  readonly #closed = new Map<number, Item>();
  readonly #newest = new Map<string, number>();
  #last = 0;

  constructor(max: number, numbering: Numbering<Item>) {
    this.#max = max;
    this.#numbering = numbering;
  }

  get size(): number {
    return this.#open.size + this.#closed.size;
  }

  /** The highest number ever seen. */
  get last(): number {
    return this.#last;
  }

  add(item: Item): void {
    const { numberOf, isOpen, caseOf } = this.#numbering;
    const number = numberOf(item);
    this.#open.delete(number);
    this.#closed.delete(number);
    (isOpen(item) ? this.#open : this.#closed).set(number, item);
    this.#last = Math.max(this.#last, number);
    const key = caseOf(item);
    this.#newest.set(key, Math.max(number, this.#newest.get(key) ?? 0));
    if (this.#closed.size > this.#max) this.#drop(this.#closed.keys().next().value!);
  }

  #drop(number: number): void {
    const key = this.#numbering.caseOf(this.#closed.get(number)!);
    if (this.#newest.get(key) === number) this.#newest.delete(key);
    this.#closed.delete(number);
  }

  get(number: number): Item | null {
    return this.#open.get(number) ?? this.#closed.get(number) ?? null;
  }

  of(key: string): Item | null {
    const number = this.#newest.get(key);
    return number === undefined ? null : this.get(number);
  }

  /** The one with the highest number first. */
  list({ state, limit }: NumberedQuery): readonly Item[] {
    const { numberOf, stateOf } = this.#numbering;
    return [...this.#open.values(), ...this.#closed.values()]
      .filter((item) => state === undefined || stateOf(item) === state)
      .sort((a, b) => numberOf(b) - numberOf(a))
      .slice(0, atMost(limit));
  }
}

/** `above` is newer: what is in it is not as it is in `below` any more. */
export function numberedLaidOver<Item>(
  above: NumberedTable<Item>,
  below: (query: NumberedQuery) => readonly Item[],
  query: NumberedQuery,
  numberOf: (item: Item) => number,
): readonly Item[] {
  const limit = atMost(query.limit);
  const older = below({ ...query, limit: limit + above.size }).filter((item) => above.get(numberOf(item)) === null);
  return [...above.list(query), ...older].sort((a, b) => numberOf(b) - numberOf(a)).slice(0, limit);
}

/** The newer of two, when there are two. */
export const newerOf = <Item>(above: Item | null, below: Item | null, numberOf: (item: Item) => number): Item | null =>
  above !== null && below !== null && numberOf(below) > numberOf(above) ? below : (above ?? below);
