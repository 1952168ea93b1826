/** One task at a time for each key, in the order in which they came. */

export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, number>();

  /** How many tasks of this key are not done yet. */
  length(key: string): number {
    return this.#waiting.get(key) ?? 0;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values());
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    this.#waiting.set(key, this.length(key) + 1);
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(task);
    const done = mine.catch(() => {});
    this.#last.set(key, done);
    try {
      return await mine;
    } finally {
      const left = this.length(key) - 1;
      if (left > 0) this.#waiting.set(key, left);
      else this.#waiting.delete(key);
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
