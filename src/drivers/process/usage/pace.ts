/** Lets the event loop go on in the middle of work that is made of many small steps. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Less than half of what the loop may be held up for at once. */
const TURN_MS = 4;

export class Pace {
  #since = performance.now();
  /** All who work in this turn end it together. */
  #turn: Promise<void> | null = null;

  /** To be called after every step. */
  async breathe(): Promise<void> {
    if (this.#turn === null && performance.now() - this.#since < TURN_MS) return;
    this.#turn ??= nextTurn().then(() => {
      this.#turn = null;
      this.#since = performance.now();
    });
    await this.#turn;
  }
}
