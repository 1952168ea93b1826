/** When one of our probes asks a component that is listened to: its listener is told of the first question and of the end of the last. */

import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import type { Ear } from '../ports/heartbeat-source.ts';
import { ECHO_MS } from '../rules/freeze/echo.ts';

export class Questions implements Disposable {
  readonly #clock: Clock;
  readonly #ear: Ear | null;
  #open = 0;
  #isClosed = false;
  /** The last answer is there, but what it causes may still come. */
  #echo: AbortController | null = null;

  constructor(clock: Clock, ear: Ear | null) {
    this.#clock = clock;
    this.#ear = ear;
  }

  get areOpen(): boolean {
    return this.#open > 0 || this.#echo !== null;
  }

  /** A question begins; call what it returns when it is answered. */
  begin(): () => void {
    if (!this.areOpen) this.#ear?.asked?.(true);
    this.#echo?.abort();
    this.#echo = null;
    this.#open += 1;
    return () => {
      this.#open -= 1;
      if (this.#open === 0 && !this.#isClosed) void this.#die();
    };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#echo?.abort();
  }

  async #die(): Promise<void> {
    const echo = new AbortController();
    this.#echo = echo;
    try {
      await this.#clock.sleepUntil(after(this.#clock.now(), ECHO_MS), echo.signal);
    } catch {
      return; // the next question came before, or it is over
    }
    this.#echo = null;
    this.#ear?.asked?.(false);
  }
}
