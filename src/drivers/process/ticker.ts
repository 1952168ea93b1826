/** Work at an interval, on the injected clock, for as long as there is some. */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { after } from '../../base/pure/ids.ts';

export interface TickerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  /** Returns false when it need not be called again until the next `wake`. */
  readonly work: () => boolean | Promise<boolean>;
}

export class Ticker {
  readonly #options: TickerOptions;
  #isRunning = false;

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  /** Starts the interval unless it is running. */
  wake(): void {
    if (this.#isRunning || this.#options.signal.aborted) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { clock, log, everyMs, signal, work } = this.#options;
    try {
      for (let goesOn = true; goesOn; ) {
        await clock.sleepUntil(after(clock.now(), everyMs), signal);
        goesOn = await work();
      }
      this.#isRunning = false;
    } catch (error) {
      this.#isRunning = false;
      if (signal.aborted) return;
      log.error('watching runs failed, going on', { error: String(error) });
      this.wake();
    }
  }
}
