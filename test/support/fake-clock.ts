import type { Clock } from '../../src/base/clock.ts';
import type { BootId, MonoMs, WallMs } from '../../src/base/pure/ids.ts';

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/** Lets woken code run, promises and immediates included, until it waits again. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** A clock that stops at every due time on the way, so woken code reads the time it asked for. */
export class FakeClock implements Clock {
  bootId = 'boot-1' as BootId;
  #now: number;
  #wall: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(now = 1_000_000, wall = Date.UTC(2026, 0, 1)) {
    this.#now = now;
    this.#wall = wall;
  }

  now(): MonoMs {
    return this.#now as MonoMs;
  }
  wallNow(): WallMs {
    return this.#wall as WallMs;
  }

  sleepUntil(at: MonoMs, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (at <= this.#now) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const wake = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const sleeper: Sleeper = { at, wake };
      this.#sleepers.add(sleeper);
      const abort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (await settle(); ; await settle()) {
      const [due] = [...this.#sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!due) break;
      this.#sleepers.delete(due);
      this.#moveTo(Math.max(this.#now, due.at));
      due.wake();
    }
    this.#moveTo(end);
  }

  /** Nobody is awake for so long: what was due meanwhile is woken at its end, all at once. */
  async stall(ms: number): Promise<void> {
    this.#moveTo(this.#now + ms);
    await this.advance(0);
  }

  /** The wall clock jumps, as when somebody sets it; durations do not notice. */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  /** How many are asleep: a test can show that nothing was left behind. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  #moveTo(at: number): void {
    this.#wall += at - this.#now;
    this.#now = at;
  }
}
