/** Those who wait for something to become true of the components. */
export class Changes {
  readonly #watchers = new Set<() => void>();

  /** Something changed: everybody looks again. */
  tell(): void {
    for (const watch of [...this.#watchers]) watch();
  }

  /** Resolves once `fact` is true; looked at after every change. */
  async until(fact: () => boolean): Promise<void> {
    if (fact()) return;
    await new Promise<void>((resolve) => {
      const watch = () => {
        if (!fact()) return;
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
    });
  }
}
