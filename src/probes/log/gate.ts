/** A door through which one piece of work at a time goes. When it is shut, the work inside is finished and the next one waits. */
export class Gate {
  #shut: { readonly opened: Promise<void>; readonly open: () => void } | null = null;
  #inside: Promise<unknown> | null = null;

  /** Never twice at once. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#shut) await this.#shut.opened;
    const done = work();
    this.#inside = done.catch(() => {});
    try {
      return await done;
    } finally {
      this.#inside = null;
    }
  }

  async shut(): Promise<void> {
    if (!this.#shut) {
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      this.#shut = { opened, open };
    }
    await this.#inside;
  }

  open(): void {
    this.#shut?.open();
    this.#shut = null;
  }
}
