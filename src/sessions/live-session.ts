/** A session that this process has in hand: its record, and what is being done with it right now. */
import type { HealthVerdict } from '../supervision/rules/container-health.ts';
import { type Made, NOT_SEEN } from './make.ts';
import type { SessionMonitor } from './monitor.ts';
import type { SessionBook } from './ports.ts';
import type { SessionEvent, SessionRecord } from './spec.ts';

const isGood = ({ status }: HealthVerdict): boolean => status === 'healthy' || status === 'none';

export class LiveSession {
  readonly #book: SessionBook;
  readonly #listeners = new Set<() => void>();
  #record: SessionRecord;
  #isSeen = false;
  /** As it was before nobody could tell. */
  #wasGood: boolean;
  /** Its container is being made. */
  making: Promise<Made> | null = null;
  /** It failed, and what its container says about that is being taken down. */
  noting: Promise<unknown> | null = null;
  /** Its container is being removed. */
  ending: Promise<void> | null = null;
  /** Its container could not be removed: it is waited for that the Engine can be asked again. */
  returning: Disposable | null = null;
  /** It is looked after. */
  monitor: SessionMonitor | null = null;

  constructor(record: SessionRecord, book: SessionBook) {
    this.#record = record;
    this.#book = book;
    this.#wasGood = isGood(record.health);
  }

  get record(): SessionRecord {
    return this.#record;
  }

  /** As this process knows it: what an earlier one has written down may be old. */
  get health(): HealthVerdict {
    return this.#isSeen || this.#record.end !== null ? this.#record.health : NOT_SEEN;
  }

  get isSeen(): boolean {
    return this.#isSeen;
  }

  get isBeingMade(): boolean {
    return this.making !== null || this.#record.state === 'spawning';
  }

  get isBusy(): boolean {
    return this.making !== null || this.ending !== null;
  }

  /** Whether this is the moment at which it can be used (again). An outage of the Engine in between is not one. */
  becomesReady(health: HealthVerdict): boolean {
    this.#isSeen = true;
    if (health.status === 'unknown') return false;
    const isNews = isGood(health) && !this.#wasGood;
    this.#wasGood = isGood(health);
    return isNews;
  }

  save(change: Partial<SessionRecord>, ...told: readonly SessionEvent[]): void {
    this.#record = { ...this.#record, ...change };
    this.#book.save(this.#record, told);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Nothing more is done to keep it. */
  letGo(): void {
    this.monitor?.[Symbol.dispose]();
    this.monitor = null;
  }

  /** Resolves when this is so, looked at after each change. Rejects when `signal` aborts. */
  until(isSo: (live: LiveSession) => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        this.#listeners.delete(look);
        signal.removeEventListener('abort', giveUp);
        finish();
      };
      const look = () => {
        if (isSo(this)) settle(resolve);
      };
      const giveUp = () => settle(() => reject(signal.reason));
      this.#listeners.add(look);
      signal.addEventListener('abort', giveUp);
      if (signal.aborted) giveUp();
      else look();
    });
  }
}
