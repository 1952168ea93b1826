import type { LimitSpec } from '../../spec.ts';
import type { MonoMs } from '../../../base/pure/ids.ts';

export interface Spent {
  readonly allowed: boolean;
  /** The history to keep, with `now` added if allowed. */
  readonly recent: readonly MonoMs[];
}

/** May there be one more restart? Those older than the window no longer count. */
export function spend(recent: readonly MonoMs[], now: MonoMs, limit: LimitSpec): Spent {
  const kept = recent.filter((at) => now - at < limit.withinMs);
  return kept.length < limit.max ? { allowed: true, recent: [...kept, now] } : { allowed: false, recent: kept };
}
