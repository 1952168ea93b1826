/**
 * The one queue through which every component's mailbox is served: in order, never re-entered, and never for so long that the
 * event loop starves when hundreds of components die or start at once.
 */

import type { Clock } from '../base/clock.ts';
import { after, type MonoMs } from '../base/pure/ids.ts';

const BUDGET_MS = 15;

export class EventQueue {
  readonly #clock: Clock;
  readonly #fatal: (error: unknown) => void;
  #queue: (() => void)[] = [];
  #busy = false;
  #hasFailed = false;
  /** Until when tasks may be done in this turn of the event loop; null: none was done in it yet. */
  #until: MonoMs | null = null;

  /** `fatal`: a step failed half-way, so this process no longer knows the truth. The next one will find it on disk. */
  constructor(clock: Clock, fatal: (error: unknown) => void) {
    this.#clock = clock;
    this.#fatal = fatal;
  }

  /** Runs `task` now if nothing else is waiting and this turn of the event loop has time left, otherwise when its turn comes. */
  post(task: () => void): void {
    this.#queue.push(task);
    if (!this.#busy) this.#serve();
  }

  #serve(): void {
    this.#busy = true;
    const until = this.#begin();
    let done = 0;
    try {
      while (done < this.#queue.length && this.#clock.now() < until) this.#queue[done++]!();
    } catch (error) {
      this.#hasFailed = true; // nothing is decided any more on top of half a step
      this.#fatal(error);
      return;
    }
    this.#queue = this.#queue.slice(done);
    this.#busy = this.#queue.length > 0;
  }

  /** The budget is of the turn, not of the call: two hundred posts in one turn share it. */
  #begin(): MonoMs {
    if (this.#until !== null) return this.#until;
    this.#until = after(this.#clock.now(), BUDGET_MS);
    setImmediate(() => {
      this.#until = null;
      if (this.#queue.length > 0 && !this.#hasFailed) this.#serve();
    });
    return this.#until;
  }
}
