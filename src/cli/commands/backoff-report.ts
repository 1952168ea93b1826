/** A schedule of restarts for people and for programs. Loaded by `keepwell backoff` only. */
import type { LifecyclePolicy } from '../../supervision/rules/lifecycle/state.ts';
import { type Bounds, type Schedule, schedule } from '../../supervision/rules/restart/schedule.ts';
import type { Paint } from '../print/colour.ts';
import { backoffTable } from '../backoff/table.ts';
import { type Asked, explanation } from '../backoff/words.ts';

export interface BackoffReport {
  /** For `-o json`. */
  readonly view: object;
  lines(paint: Paint, columns?: number): string[];
}

export function backoffReport(asked: Asked): BackoffReport {
  const { name, policy, uptimeMs } = asked;
  const planned = schedule(policy, uptimeMs);
  const sentence = explanation(asked, planned);
  return {
    view: {
      schema_version: 1,
      component: name,
      policy: policyView(policy),
      uptime_ms: uptimeMs,
      ...scheduleView(planned),
      explanation: sentence,
    },
    lines: (paint, columns) => {
      const rows = backoffTable(policy, planned, paint, columns);
      return rows.length === 0 ? [sentence] : [...rows, '', sentence];
    },
  };
}

function policyView({ restart }: LifecyclePolicy) {
  const { backoff, limit } = restart;
  return {
    policy: restart.policy,
    backoff: {
      initial_ms: backoff.initialMs,
      factor: backoff.factor,
      max_ms: backoff.maxMs,
      jitter: backoff.jitterRatio,
      reset_after_ms: backoff.resetAfterMs,
    },
    limit: { max: limit.max, within_ms: limit.withinMs, retry_ms: limit.retryMs },
  };
}

const boundsView = ({ minMs, maxMs }: Bounds) => ({ min: minMs, max: maxMs });

/** All times but the waits count from the first failure. */
const scheduleView = ({ restarts, givesUp, end, quiet }: Schedule) => ({
  restarts: restarts.map(({ number, wait, begins, inWindow }) => ({
    restart: number,
    wait_ms: boundsView(wait),
    begins_ms: boundsView(begins),
    in_window: inWindow,
  })),
  gives_up: givesUp,
  gave_up: end && {
    at_ms: boundsView(end.at),
    rule: end.verdict.rule,
    decision: end.verdict.text,
    next_try_in_ms: end.verdict.rule === 'observed' ? null : end.verdict.inMs,
  },
  quiet_retry: quiet && {
    begins_ms: boundsView(quiet.at),
    decision: quiet.verdict.text,
    next_try_in_ms: quiet.verdict.inMs,
  },
});
