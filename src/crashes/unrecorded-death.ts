/** The death of a run while no daemon was there to record it, told from its run directory and its log. */

import { systemClock } from '../base/clock.ts';
import { exitView, isClean } from '../base/pure/exit.ts';
import type { WallMs } from '../base/pure/ids.ts';
import type { ComponentRecord } from '../supervision/ports/store.ts';
import { stretchView } from '../supervision/rules/health/stretch.ts';
import { runOf } from '../supervision/rules/status.ts';
import type { SeenRun } from '../supervision/rules/unsupervised.ts';
import type { WhyView } from '../supervision/rules/views.ts';
import { collectEvidence, type EvidenceOptions } from './evidence.ts';

export interface DeathOptions extends Omit<EvidenceOptions, 'exit' | 'at'> {
  readonly record: ComponentRecord;
  readonly runs: readonly SeenRun[];
}

/** Crashes in the history begin with 1. */
const NOT_RECORDED = 0;

/** Null: it lives, was stopped, completed, or its end is recorded. */
export function unrecordedDeath({ record, runs, ...options }: DeathOptions): WhyView | null {
  const { history, spec } = options;
  const { state, counters } = record.component;
  const run = runOf(state);
  const seen = run === null ? undefined : runs.find((one) => one.run === run);
  if (run === null || seen === undefined || state.kind === 'stopping' || record.desired === 'stopped') return null;
  if (seen.alive || seen.leftovers.length > 0 || seen.unreachable) return null;
  if ((seen.exit && isClean(seen.exit)) || history.why({ component: spec.name })?.run_id === run) return null;
  const at = seen.exitAt ?? (systemClock.wallNow() as WallMs);
  const exit = exitView(seen.exit ?? { kind: 'unknown', why: 'nobody saw it' });
  const { logTail, changedSinceGood, ...told } = collectEvidence({ ...options, exit, at });
  return {
    ...{ schema_version: 1, id: NOT_RECORDED, subject: { kind: 'component', name: spec.name }, run_id: run },
    ...{ at: new Date(at).toISOString(), uptime_ms: Math.max(0, at - (record.startedAt ?? at)), exit },
    ...{ error_type: told.errorType, error_message: told.errorMessage, root_cause: told.rootCause },
    ...{
      fingerprint: told.fingerprint ?? null,
      agent_type: null,
      agent_pid: null,
      task_id: null,
      incident: null,
      ticket: null,
    },
    decision: 'none yet: no daemon has seen it',
    ...{ log_tail: logTail, stack: told.stack ?? [], related_files: told.relatedFiles ?? [] },
    earlier_error: told.earlier ?? null,
    probes: history
      .probes({ component: spec.name, limit: MAX_STRETCHES })
      .filter((one) => one.run === run)
      .reverse()
      .map(stretchView),
    ...{ freeze: null, dependencies: [], changed_since_good: changedSinceGood },
    rule: {
      name: 'none',
      counters: {
        restarts_in_window: counters.restarts.length,
        ...{ failures: counters.failures, spawn_errors: counters.spawnErrors, total: counters.total },
      },
    },
  };
}

const MAX_STRETCHES = 20;
