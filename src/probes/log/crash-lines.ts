/** Lines that say a component is in trouble, told as they are written, a few in a second at most. */

import type { PatternHit, ProbeTarget } from '../../supervision/ports/prober.ts';
import type { Pattern } from '../../supervision/rules/health/pattern.ts';
import { LineSearch, type SearchWorld } from './line-search.ts';

export interface CrashLinesOptions {
  readonly patterns: readonly Pattern[];
  readonly path: string;
  readonly target: ProbeTarget;
  readonly onHit: (hit: PatternHit) => void;
  /** None of the patterns is looked for any more. */
  readonly onGone?: (reason: string) => void;
}

export function watchCrashLines(options: CrashLinesOptions, world: SearchWorld): Disposable {
  const { patterns, path, target, onHit, onGone } = options;
  const component = target.spec.name;
  const live = new Set(patterns);
  const limit = new HitLimit((untold) => {
    world.log.warn('more lines fitted a crash pattern than were told', { component, untold });
  });
  const search = new LineSearch(
    {
      path,
      from: target.logFrom,
      patterns,
      onFound: ({ pattern, line }) => {
        if (limit.take(performance.now())) onHit({ pattern: pattern.source, line });
      },
      onRetired: (pattern, reason) => {
        world.log.warn('a crash pattern is no longer searched', { component, pattern: pattern.source, reason });
        live.delete(pattern);
        if (live.size > 0) return;
        void search.close();
        onGone?.(reason);
      },
    },
    world,
  );
  return {
    [Symbol.dispose]: () => {
      limit.flush();
      void search.close();
    },
  };
}

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
