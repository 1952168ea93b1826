/** What checks that run on schedule came to: kept as stretches of equal results, and as they are shown. */

import type { WallMs } from '../../base/pure/ids.ts';
import type { Amount, Count, IsoTime } from '../../base/pure/json.ts';
import type { Stretch } from '../../supervision/rules/health/stretch.ts';
import type { CheckResult, CheckSpec, CheckStatus } from '../spec.ts';

/** Equal results of one check, one after the other: the history is kept as stretches, so that it stays small for years. */
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

/** Equal results of one check in a row. */
export interface CheckStretchView {
  readonly status: CheckStatus;
  /** Of the last result. */
  readonly message: string;
  readonly first_at: IsoTime;
  readonly last_at: IsoTime;
  readonly count: Count;
  readonly last_ms: Amount;
  readonly max_ms: Amount;
}

/** One check of the configuration, with its results. */
export interface CheckView {
  readonly name: string;
  /** Checks that must be ok first. */
  readonly needs: readonly string[];
  /** What to do when it fails, if the configuration says so. */
  readonly hint: string | null;
  /** Newest first; none: it never ran on schedule. */
  readonly results: readonly CheckStretchView[];
}

/** The checks of the configuration in its order. */
export interface ChecksView {
  readonly schema_version: 1;
  /** How often the daemon runs them; null: only when somebody asks. */
  readonly every_ms: Count | null;
  readonly checks: readonly CheckView[];
}

const time = (at: number): string => new Date(at).toISOString();

export function checksView(
  specs: readonly CheckSpec[],
  everyMs: number | null,
  resultsOf: (check: string) => readonly CheckStretch[],
): ChecksView {
  return {
    schema_version: 1,
    every_ms: everyMs,
    checks: specs.map(({ name, needs, hint }) => ({ name, needs, hint, results: resultsOf(name).map(stretchView) })),
  };
}

const stretchView = ({ status, message, firstAt, lastAt, count, lastMs, maxMs }: CheckStretch): CheckStretchView => ({
  ...{ status, message, first_at: time(firstAt), last_at: time(lastAt), count },
  last_ms: Math.round(lastMs),
  max_ms: Math.round(maxMs),
});
