/** A stretch of equal answers to one probe of one run: the timeline is kept as stretches, so that it stays small for years. */
import type { ComponentName, RunId, WallMs } from '../../../base/pure/ids.ts';
import type { ProbeStretchView } from '../views.ts';
import type { Outcome, Role } from './probe.ts';

/** What every stretch of equal answers has, whoever was asked. */
export interface Stretch {
  /** Of the last answer. */
  readonly message: string;
  readonly firstAt: WallMs;
  readonly lastAt: WallMs;
  readonly count: number;
  /** How long the last and the slowest answer took. */
  readonly lastMs: number;
  readonly maxMs: number;
}

export interface ProbeStretch extends Stretch {
  readonly component: ComponentName;
  readonly run: RunId;
  readonly role: Role;
  /** "http :8080/healthz" */
  readonly question: string;
  readonly outcome: Outcome;
}

export function stretchView({ run, firstAt, lastAt, lastMs, maxMs, ...same }: ProbeStretch): ProbeStretchView {
  const { component, role, question, outcome, message, count } = same;
  return {
    ...{ component, run_id: run, role, question, outcome, message },
    first_at: new Date(firstAt).toISOString(),
    last_at: new Date(lastAt).toISOString(),
    count,
    last_ms: Math.round(lastMs),
    max_ms: Math.round(maxMs),
  };
}
