/** What the end of one attempt means for its experiment and for its service. */

import { formatDuration } from '../../base/pure/format.ts';
import type { ExperimentSpec } from '../spec.ts';
import type { AttemptEnd, Experiment, OpenAttempt, ServiceState, Write } from './state.ts';

export interface AfterAttempt {
  readonly experiment: Experiment;
  readonly service: ServiceState;
  readonly writes: readonly Write[];
}

export function afterAttempt(
  before: { readonly experiment: Experiment; readonly service: ServiceState; readonly spec: ExperimentSpec },
  open: OpenAttempt,
  over: { readonly end: AttemptEnd; readonly durationMs: number | null },
): AfterAttempt {
  const { end, durationMs } = over;
  const reason = reasonOf(end);
  const exitCode = end.kind === 'exited' ? end.code : null;
  const experiment = judged(before.experiment, before.spec, end, { exitCode, durationMs, reason });
  return {
    experiment,
    service: { ...before.service, mustRecover: mustRecover(end) ?? before.service.mustRecover },
    writes: [
      { kind: 'attempt-over', open, outcome: end.kind, exitCode, durationMs, reason },
      { kind: 'experiment', position: open.position, experiment },
    ],
  };
}

type Facts = Pick<Experiment, 'exitCode' | 'durationMs' | 'reason'>;

function judged(experiment: Experiment, spec: ExperimentSpec, end: AttemptEnd, facts: Facts): Experiment {
  if (end.kind === 'exited' && end.code === 0) return { ...experiment, ...facts, state: 'done', reason: null };
  if (end.kind === 'interrupted') return { ...experiment, state: 'pending', reason: facts.reason };
  const failures = experiment.failures + 1;
  const isHopeless = end.kind === 'refused' || failures > spec.retries;
  return { ...experiment, ...facts, failures, state: isHopeless ? 'failed' : 'pending' };
}

function reasonOf(end: AttemptEnd): string | null {
  if (end.kind === 'exited') return end.code === 0 ? null : `exit code ${end.code}`;
  if (end.kind === 'timeout') return `took longer than ${formatDuration(end.afterMs)}`;
  return end.why;
}

/** A command that could not be ended goes on beside the next one, so the service is restarted, whatever it says of itself. */
function mustRecover(end: AttemptEnd): ServiceState['mustRecover'] {
  if (end.kind === 'timeout' && end.left) return { remedy: 'restart', why: 'an experiment in it could not be ended' };
  if (end.kind !== 'unhealthy' || end.remedy === 'none') return null;
  return { remedy: end.remedy, why: end.why };
}
