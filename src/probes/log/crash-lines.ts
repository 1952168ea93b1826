/** Lines that say a component is in trouble, told as they are written, a few in a second at most. */
import type { Pattern } from '../../supervision/rules/health/pattern.ts';
import type { PatternHit, ProbeTarget } from '../../supervision/ports/prober.ts';
import { HitLimit } from './hit-limit.ts';
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
