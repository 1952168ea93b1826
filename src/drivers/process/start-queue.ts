/** One piece of heavy work per turn of the event loop, in order: 500 starts must not hold up probes and the API. */
import type { RunId } from '../../base/pure/ids.ts';

interface Job {
  readonly run: RunId;
  readonly work: () => void;
}

export class StartQueue {
  readonly #isFirstAtOnce: boolean;
  #jobs: Job[] = [];
  #isTicking = false;

  /** `firstAtOnce`: the first of a turn is not put off to the next one. */
  constructor({ firstAtOnce = false } = {}) {
    this.#isFirstAtOnce = firstAtOnce;
  }

  push(run: RunId, work: () => void): void {
    const isAtOnce = this.#isFirstAtOnce && !this.#isTicking;
    if (!isAtOnce) this.#jobs.push({ run, work });
    this.#tick();
    if (isAtOnce) work();
  }

  /** True when the run was still waiting; its work will not be done then. */
  cancel(run: RunId): boolean {
    const before = this.#jobs.length;
    this.#jobs = this.#jobs.filter((job) => job.run !== run);
    return this.#jobs.length < before;
  }

  clear(): void {
    this.#jobs = [];
  }

  #tick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    setImmediate(() => {
      this.#isTicking = false;
      const job = this.#jobs.shift();
      if (job === undefined) return;
      this.#tick();
      job.work();
    });
  }
}
