/** Collects what probes answered and writes it in batches: a hundred answers a second must not be a hundred transactions. */

import type { ProbeStretch } from '../../core/health/stretch.ts';
import { after } from '../../core/ids.ts';
import type { Clock } from '../../ports/clock.ts';

const BATCH_MS = 5_000;

export class ProbeJournal {
  readonly #clock: Clock;
  readonly #write: (stretches: readonly ProbeStretch[]) => void;
  readonly #over = new AbortController();
  #changed = new Map<string, ProbeStretch>();
  #isWaiting = false;

  constructor(clock: Clock, write: (stretches: readonly ProbeStretch[]) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  readonly note = (stretch: ProbeStretch): void => {
    this.#changed.set(`${stretch.run} ${stretch.role} ${stretch.firstAt}`, stretch);
    if (this.#isWaiting || this.#over.signal.aborted) return;
    this.#isWaiting = true;
    this.#clock.sleepUntil(after(this.#clock.now(), BATCH_MS), this.#over.signal).then(
      () => {
        this.#isWaiting = false;
        this.flush();
      },
      () => {}, // closed, and flushed by that
    );
  };

  flush(): void {
    if (this.#changed.size === 0) return;
    const stretches = [...this.#changed.values()];
    this.#changed = new Map();
    this.#write(stretches);
  }

  close(): void {
    this.#over.abort();
    this.flush();
  }
}
