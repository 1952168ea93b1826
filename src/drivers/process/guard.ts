/** Keeps a failure while watching one run from reaching the others. It is said, and the next sweep looks again. */
import type { RunId } from '../../core/ids.ts';
import type { Log } from '../../ports/log.ts';

export class Guard {
  readonly #run: RunId;
  readonly #log: Log;
  readonly #signal: AbortSignal;

  constructor(run: RunId, { log, signal }: { readonly log: Log; readonly signal: AbortSignal }) {
    this.#run = run;
    this.#log = log;
    this.#signal = signal;
  }

  now(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.complain(error);
    }
  }

  later(work: () => Promise<void>): void {
    // Called inside an async function, so that a failure before its first await is caught as well.
    (async () => work())().catch((error: unknown) => this.complain(error));
  }

  complain(error: unknown): void {
    if (this.#signal.aborted) return; // waits that closing has ended
    this.#log.error('watching a run failed', { run: this.#run, error: String(error) });
  }
}
