/** Tells every listener of every event; one that throws is its own problem. */
import type { Log } from '../base/log.ts';
import type { EventView, Subject } from './rules/views.ts';

/** What is told about the daemon itself. */
export const DAEMON: Subject = { kind: 'daemon', name: 'keepwell' };

export class EventBus {
  readonly #listeners = new Set<(event: EventView) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  readonly subscribe = (listener: (event: EventView) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

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
