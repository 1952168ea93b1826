/**
 * Keeps a failure while watching one run from reaching the others. What could not be looked at is not known: that is said, in the log
 * and in `status`, and asked again until it is known.
 */
import type { RunId } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Doubt } from '../../supervision/ports/driver.ts';

export interface GuardWorld extends Pick<Runtime, 'clock' | 'log'> {
  readonly signal: AbortSignal;
  /** Asks for another look soon. */
  wantsPolling(): void;
}

export class Guard {
  readonly #run: RunId;
  readonly #world: GuardWorld;
  #doubt: Doubt | null = null;

  constructor(run: RunId, world: GuardWorld) {
    this.#run = run;
    this.#world = world;
  }

  /** Since when, and why, it is not known how the run is; null: it is known. */
  get doubt(): Doubt | null {
    return this.#doubt;
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
    const { signal, log, clock, wantsPolling } = this.#world;
    if (signal.aborted) return; // waits that closing has ended
    const why = error instanceof Error ? error.message : String(error);
    if (this.#doubt === null) log.error('watching a run failed', { run: this.#run, error: String(error) });
    this.#doubt = { since: this.#doubt?.since ?? clock.now(), why };
    wantsPolling();
  }

  /** Everything there is to know was read. */
  settle(): void {
    if (this.#doubt === null) return;
    const forMs = Math.round(this.#world.clock.now() - this.#doubt.since);
    this.#doubt = null;
    this.#world.log.info('a run can be watched again', { run: this.#run, after_ms: forMs });
  }
}
