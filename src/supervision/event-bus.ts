/** Tells every listener of every event; one that throws is its own problem. */
import type { Log } from '../base/log.ts';
import type { EventView } from './rules/views.ts';

export class EventBus {
  readonly #listeners = new Set<(event: EventView) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  subscribe(listener: (event: EventView) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly publish = (event: EventView): void => {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#log.error('a listener of events failed', { error: String(error) });
      }
    }
  };
}
