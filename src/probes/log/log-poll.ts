/** Looks at all followed logs in rounds, and gives each its share of what may be read in a round. Rests while nothing is followed. */
import { DirectoryHints, type Listener } from './directory-hints.ts';
import type { PollLimits } from './limits.ts';

export class LogPoll {
  readonly #limits: PollLimits;
  readonly #hints = new DirectoryHints();
  readonly #listeners = new Set<Listener>();
  /** Bytes read in this round, by path: those who follow the same log share. */
  readonly #spent = new Map<string, number>();
  #spentInAll = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: PollLimits) {
    this.#limits = limits;
  }

  add(listener: Listener): void {
    this.#listeners.add(listener);
    this.#hints.add(listener);
    if (this.#timer) return;
    this.#forget();
    this.#timer = setInterval(() => this.#round(), this.#limits.everyMs).unref();
  }

  delete(listener: Listener): void {
    this.#listeners.delete(listener);
    this.#hints.delete(listener);
    if (this.#listeners.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** How many of the wanted bytes may be read now. 0: not before the next round. */
  grant(path: string, wantedBytes: number): number {
    const spent = this.#spent.get(path) ?? 0;
    const { bytesPerRound, bytesPerRoundInAll } = this.#limits;
    const granted = Math.min(wantedBytes, bytesPerRound - spent, bytesPerRoundInAll - this.#spentInAll);
    this.#spent.set(path, spent + granted);
    this.#spentInAll += granted;
    return granted;
  }

  #round(): void {
    this.#forget();
    this.#hints.renew();
    for (const listener of this.#listeners) listener.wake();
  }

  #forget(): void {
    this.#spent.clear();
    this.#spentInAll = 0;
  }
}
