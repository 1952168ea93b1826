/** Lines in which people wait: one at a time for each name, in the order in which they came. */

export class Lines {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, number>();

  /** How many stand in this line, the one whose turn it is included. */
  length(name: string): number {
    return this.#waiting.get(name) ?? 0;
  }

  async in<T>(name: string, task: () => Promise<T>): Promise<T> {
    this.#waiting.set(name, this.length(name) + 1);
    const before = this.#last.get(name) ?? Promise.resolve();
    const mine = before.then(task);
    const done = mine.catch(() => {});
    this.#last.set(name, done);
    try {
      return await mine;
    } finally {
      const left = this.length(name) - 1;
      if (left > 0) this.#waiting.set(name, left);
      else this.#waiting.delete(name);
      if (this.#last.get(name) === done) this.#last.delete(name);
    }
  }
}
