/** Lines that say a component is in trouble, told as they are written, a few in a second at most. */
import type { Pattern } from '../../core/health/pattern.ts';
import type { PatternHit, ProbeTarget } from '../../ports/prober.ts';
import { HitLimit } from './hit-limit.ts';
import { LineSearch, type SearchWorld } from './line-search.ts';

export interface CrashLinesOptions {
  readonly patterns: readonly Pattern[];
  readonly path: string;
  readonly target: ProbeTarget;
  readonly onHit: (hit: PatternHit) => void;
}

export function watchCrashLines({ patterns, path, target, onHit }: CrashLinesOptions, world: SearchWorld): Disposable {
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
        world.log.warn('a crash pattern is not looked for any more', { component, pattern: pattern.source, reason });
        live.delete(pattern);
        if (live.size === 0) void search.close();
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
