/** Looking again and again at one target, at an interval, until something is certain. */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { FoundTarget, TargetObservation, TargetWatch } from './target.ts';

export const LOOK_EVERY_MS = 1_000;
/** When somebody else says at once that something may have changed. */
const LOOK_NOW_AND_THEN_MS = 30_000;

export type KnownTarget = Exclude<TargetObservation, { kind: 'unknown' }>;

export interface WatchOptions {
  readonly targetWatch: TargetWatch;
  readonly clock: Clock;
  readonly troubles: Troubles;
  readonly signal: AbortSignal;
  /** Whoever calls `hurry` when something may have changed is listening; absent: nobody is. */
  isHeard?(): boolean;
  /** It cannot be looked at, and why; null: it can again. Told at each change. */
  blind?(why: string | null): void;
}

export class Watch {
  readonly #options: WatchOptions;
  #rest: AbortController | null = null;
  #isHurried = false;
  #isBlind = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** The last look told nothing, because we could not look; never once the watch was called off. */
  get isBlind(): boolean {
    return this.#isBlind && !this.#options.signal.aborted;
  }

  /** Something may have changed: it is looked at now. */
  hurry(): void {
    this.#isHurried = true;
    this.#rest?.abort();
  }

  /** Whether it is there: seen once it is, and missed as often in a row as the target demands it is not. */
  find(): Promise<KnownTarget> {
    return this.#until(
      (observation, missed) => observation.kind === 'there' || missed >= this.#options.targetWatch.failuresNeeded,
    );
  }

  /** The first look that tells anything. */
  glance(): Promise<KnownTarget> {
    return this.#until(() => true);
  }

  /** Resolves when it has come, or when it is seen to be absent at `deadline` or later; without one, only when it has come. */
  comes(deadline: MonoMs | null): Promise<KnownTarget> {
    const { clock } = this.#options;
    return this.#until(({ kind }) => kind === 'there' || (deadline !== null && clock.now() >= deadline));
  }

  /** Resolves when what was found is gone. */
  goes(known: FoundTarget): Promise<KnownTarget> {
    return this.#until((_observation, missed) => missed >= this.#options.targetWatch.failuresNeeded, known);
  }

  /** `missed`: how many looks in a row, this one included, said that it is gone. Looks that tell nothing count for nothing. */
  async #until(
    isEnough: (observation: KnownTarget, missed: number) => boolean,
    known: FoundTarget | null = null,
  ): Promise<KnownTarget> {
    for (let missed = 0; ; ) {
      this.#isHurried = false;
      const observation = await this.#look(known);
      if (observation.kind !== 'unknown') {
        missed = observation.kind === 'gone' ? missed + 1 : 0;
        if (isEnough(observation, missed)) return observation;
      }
      if (!this.#isHurried) await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    const { clock, signal, isHeard } = this.#options;
    const everyMs = isHeard?.() && !this.#isBlind ? LOOK_NOW_AND_THEN_MS : LOOK_EVERY_MS;
    const rest = new AbortController();
    const quit = () => rest.abort();
    this.#rest = rest;
    signal.addEventListener('abort', quit, { once: true });
    try {
      signal.throwIfAborted();
      await clock.sleepUntil(after(clock.now(), everyMs), rest.signal);
    } catch {
      signal.throwIfAborted(); // else it was hurried
    } finally {
      signal.removeEventListener('abort', quit);
    }
  }

  async #look(known: FoundTarget | null): Promise<TargetObservation> {
    const { targetWatch, troubles, signal } = this.#options;
    const observation = await targetWatch.look(known, signal);
    const isBlind = observation.kind === 'unknown';
    if (isBlind !== this.#isBlind) this.#options.blind?.(isBlind ? observation.why : null);
    this.#isBlind = isBlind;
    if (observation.kind === 'unknown') troubles.begin(targetWatch.asks, observation.why);
    else troubles.end(targetWatch.asks);
    return observation;
  }
}

// What cannot be asked right now: said once when it begins and once when it is over, however many ask and however often.

export class Troubles {
  readonly #log: Log;
  readonly #open = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  begin(who: string, why: string): void {
    if (this.#open.has(who)) return;
    this.#open.set(who, why);
    this.#log.warn('cannot be asked: nothing is concluded about what it tells of until it can', { who, why });
  }

  end(who: string): void {
    if (this.#open.delete(who)) this.#log.info('can be asked again', { who });
  }
}
