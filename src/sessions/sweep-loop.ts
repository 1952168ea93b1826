/** Goes round again and again: every half minute, at once when asked, and sooner while it does not work. */
import { after } from '../base/pure/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';

const EVERY_MS = 30_000;
const FIRST_RETRY_MS = 1_000;

export class Rounds {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #round: (signal: AbortSignal) => Promise<boolean>;
  readonly #closed = new AbortController();
  readonly #going: Promise<void>;
  #hurried = false;
  #pause = new AbortController();
  /** Resolves after the first round, also when it did not work. */
  readonly first: Promise<void>;

  /** `round`: false when it could not be done now. */
  constructor(clock: Clock, log: Log, round: (signal: AbortSignal) => Promise<boolean>) {
    this.#clock = clock;
    this.#log = log;
    this.#round = round;
    let settle: () => void = () => {};
    this.first = new Promise((resolve) => {
      settle = resolve;
    });
    this.#going = this.#go(settle);
  }

  hurry(): void {
    this.#hurried = true;
    this.#pause.abort();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#going;
  }

  async #go(settle: () => void): Promise<void> {
    const { signal } = this.#closed;
    let retryMs = FIRST_RETRY_MS;
    await Promise.resolve(); // nothing happens while its maker is still being made
    while (!signal.aborted) {
      this.#hurried = false;
      const isDone = await this.#try(signal);
      settle();
      const pauseMs = isDone ? EVERY_MS : retryMs;
      retryMs = isDone ? FIRST_RETRY_MS : Math.min(2 * retryMs, EVERY_MS);
      await this.#rest(pauseMs);
    }
    settle();
  }

  async #try(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#round(signal);
    } catch (error) {
      if (!signal.aborted) this.#log.error('a sweep of sessions failed; trying again', { error: String(error) });
      return false;
    }
  }

  async #rest(ms: number): Promise<void> {
    if (this.#hurried) return;
    this.#pause = new AbortController();
    const either = AbortSignal.any([this.#closed.signal, this.#pause.signal]);
    await this.#clock.sleepUntil(after(this.#clock.now(), ms), either).catch(() => {});
  }
}
