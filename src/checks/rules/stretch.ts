/** A stretch of equal results of one check that runs on schedule: the history is kept as stretches, so that it stays small for years. */

import type { WallMs } from '../../base/pure/ids.ts';
import type { Stretch } from '../../supervision/rules/health/stretch.ts';
import type { CheckResult, CheckStatus } from '../spec.ts';

export interface CheckStretch extends Stretch {
  readonly check: string;
  readonly status: CheckStatus;
}

export interface Checked {
  readonly check: string;
  readonly result: CheckResult;
  readonly at: WallMs;
  readonly tookMs: number;
}

/** The stretch that goes on with this result, or a new one. What a result says may change, such as a time: its status counts. */
export function stretched(before: CheckStretch | undefined, { check, result, at, tookMs }: Checked): CheckStretch {
  const { status, message } = result;
  const isSame = before !== undefined && before.status === status && at >= before.lastAt;
  return {
    check,
    status,
    message,
    firstAt: isSame ? before.firstAt : at,
    lastAt: at,
    count: isSame ? before.count + 1 : 1,
    lastMs: tookMs,
    maxMs: isSame ? Math.max(before.maxMs, tookMs) : tookMs,
  };
}
