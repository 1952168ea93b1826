/** A campaign played through without a process: a world that answers each request, and a book that is all a resume has. */

import { next } from '../../src/campaigns/rules/next.ts';
import {
  type CampaignEvent,
  type CampaignState,
  type Experiment,
  type OpenAttempt,
  type Request,
  stateFrom,
  type Write,
} from '../../src/campaigns/rules/state.ts';
import type { CampaignSpec, ExperimentSpec } from '../../src/campaigns/spec.ts';
import type { ServiceHealth } from '../../src/compose/rules/readiness.ts';

export const newExperiment = (name: string, service: string): Experiment => ({
  ...{ name, service, state: 'pending', attempts: 0, failures: 0, exitCode: null, durationMs: null, reason: null },
});

export const experimentSpec = (name: string, part: Partial<ExperimentSpec> = {}): ExperimentSpec => ({
  ...{ name, service: 'gpu', config: null, command: ['true'], env: {}, timeoutMs: 60_000, retries: 2 },
  ...part,
});

export const campaignSpec = (
  experiments: readonly ExperimentSpec[],
  part: Partial<CampaignSpec> = {},
): CampaignSpec => ({
  name: 'night',
  composeFile: '/project/docker-compose.yml',
  projectDir: '/project',
  experiments,
  health: { gpuMemoryThresholdPct: 90, maxRestarts: 3, everyMs: null },
  coolDownMs: 10_000,
  onFailure: 'continue',
  artifacts: [],
  ...part,
});

export const HEALTHY: ServiceHealth = {
  ...{ status: 'healthy', healthy: true, reason: '', remedy: 'restart' },
  gpuMemoryUsedBytes: null,
  gpuMemoryTotalBytes: null,
};
export const unhealthy = (part: Partial<ServiceHealth> = {}): ServiceHealth => ({
  ...HEALTHY,
  ...{ status: 'unhealthy', healthy: false, reason: 'it hangs' },
  ...part,
});

/** All that outlives a kill -9. */
export class FakeBook {
  readonly experiments: Experiment[];
  open: OpenAttempt | null = null;
  readonly writes: Write[] = [];
  constructor(spec: CampaignSpec) {
    this.experiments = spec.experiments.map(({ name, service }) => newExperiment(name, service));
  }
  write(write: Write): void {
    this.writes.push(write);
    if (write.kind === 'attempt-begun') this.open = write.open;
    if (write.kind === 'attempt-over') this.open = null;
    if (write.kind === 'experiment') this.experiments[write.position] = write.experiment;
  }
}

/** One process that runs the campaign until it is over, or until `answer` says 'killed'. Returns what was asked for, in order. */
export function play(
  spec: CampaignSpec,
  book: FakeBook,
  answer: (request: Request, state: CampaignState) => CampaignEvent | 'killed',
): readonly Request[] {
  const attemptId = (position: number, number: number) => `uid-${position}-${number}`;
  const requests: Request[] = [];
  let state = stateFrom(book.experiments);
  let event: CampaignEvent = { kind: 'began', open: book.open };
  for (;;) {
    const step = next(state, event, { spec, attemptId });
    for (const write of step.writes) book.write(write);
    requests.push(step.request);
    state = step.state;
    if (step.request.kind === 'finish') return requests;
    const answered = answer(step.request, state);
    if (answered === 'killed') return requests;
    event = answered;
  }
}

/** Everything goes well. */
export function fine(request: Request): CampaignEvent {
  if (request.kind === 'start-services') return { kind: 'services-started' };
  if (request.kind === 'check-health') return { kind: 'checked', health: HEALTHY, container: 'c1' };
  if (request.kind === 'recover') return { kind: 'recovered', isBack: true };
  if (request.kind === 'run') return { kind: 'attempt-over', end: { kind: 'exited', code: 0 }, durationMs: 1_000 };
  return { kind: 'waited' };
}
