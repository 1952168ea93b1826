/** At most so many hits in a second are told; the rest are counted. One is a failed answer; a thousand say no more than ten. */
const WINDOW_MS = 1_000;
const MAX_HITS = 10;

export class HitLimit {
  readonly #onUntold: (count: number) => void;
  #beganMs = Number.NEGATIVE_INFINITY;
  #hits = 0;

  /** `onUntold`: so many were kept back; told when the next window begins, and at the end. */
  constructor(onUntold: (count: number) => void) {
    this.#onUntold = onUntold;
  }

  /** Whether this one is told. */
  take(nowMs: number): boolean {
    if (nowMs - this.#beganMs >= WINDOW_MS) {
      this.flush();
      this.#beganMs = nowMs;
    }
    this.#hits += 1;
    return this.#hits <= MAX_HITS;
  }

  flush(): void {
    const untold = this.#hits - MAX_HITS;
    this.#hits = 0;
    if (untold > 0) this.#onUntold(untold);
  }
}
