/** Agents among the commits that are not on disk yet: of each, only the newest record is worth keeping. */
import type { Entry } from '../entry.ts';

type Holder = { -readonly [K in 'agents']?: Entry[K] };

export class KeptAgents {
  readonly #newest = new Map<string, Holder>();

  add(entry: Holder): void {
    for (const { name } of entry.agents ?? []) {
      const older = this.#newest.get(name);
      if (older?.agents) older.agents = older.agents.filter((record) => record.name !== name);
      this.#newest.set(name, entry);
    }
  }

  remove(entry: Holder): void {
    for (const { name } of entry.agents ?? []) if (this.#newest.get(name) === entry) this.#newest.delete(name);
  }
}
