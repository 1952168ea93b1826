/**
 * The one queue through which every component's mailbox is served: in order, never re-entered, and never for so long that the
 * event loop starves when hundreds of components die or start at once.
 */
import type { Clock } from '../ports/clock.ts';

const BUDGET_MS = 15;

export class Turns {
  readonly #clock: Clock;
  readonly #fatal: (error: unknown) => void;
  #queue: (() => void)[] = [];
  #busy = false;

  /** `fatal`: a step failed half-way, so this process no longer knows the truth. The next one will find it on disk. */
  constructor(clock: Clock, fatal: (error: unknown) => void) {
    this.#clock = clock;
    this.#fatal = fatal;
  }

  /** Runs `task` now if nothing else is waiting, otherwise when its turn comes. */
  post(task: () => void): void {
    this.#queue.push(task);
    if (!this.#busy) this.#serve();
  }

  #serve(): void {
    this.#busy = true;
    const until = this.#clock.now() + BUDGET_MS;
    let done = 0;
    try {
      while (done < this.#queue.length && this.#clock.now() < until) this.#queue[done++]!();
    } catch (error) {
      this.#queue = [];
      this.#fatal(error); // stays busy: nothing is decided any more on top of half a step
      return;
    }
    this.#queue = this.#queue.slice(done);
    this.#busy = this.#queue.length > 0;
    if (this.#busy) setImmediate(() => this.#serve());
  }
}
