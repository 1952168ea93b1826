/**
 * Incidents and tickets among the commits that are not on disk yet. They are written with the crash they belong to, so that a
 * death of ours in between leaves counts right; only when there are very many, the older states of the oldest are let go.
 */
import type { Entry } from '../entry.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Holder = Mutable<Pick<Entry, 'incidents' | 'tickets'>>;

const MAX_HOLDERS = 500;

export class KeptCases {
  #holders: Holder[] = [];
  readonly #incidents = new Map<number, Holder>();
  readonly #tickets = new Map<number, Holder>();

  add(entry: Holder): void {
    const { incidents = [], tickets = [] } = entry;
    if (incidents.length + tickets.length === 0) return;
    this.#holders.push(entry);
    for (const { id } of incidents) this.#incidents.set(id, entry);
    for (const { number } of tickets) this.#tickets.set(number, entry);
    if (this.#holders.length > MAX_HOLDERS) this.#fold(this.#holders.shift()!);
  }

  remove(entry: Holder): void {
    for (const { id } of entry.incidents ?? []) if (this.#incidents.get(id) === entry) this.#incidents.delete(id);
    for (const { number } of entry.tickets ?? []) if (this.#tickets.get(number) === entry) this.#tickets.delete(number);
    if (this.#holders.includes(entry)) this.#holders = this.#holders.filter((holder) => holder !== entry);
  }

  /** What comes again later need not be written before. */
  #fold(entry: Holder): void {
    if (entry.incidents) entry.incidents = entry.incidents.filter(({ id }) => this.#incidents.get(id) === entry);
    if (entry.tickets) entry.tickets = entry.tickets.filter(({ number }) => this.#tickets.get(number) === entry);
  }
}
