/**
 * The campaign's one decision: from where it is and what happened, to where it is now, what is written down, and the one thing to do
 * next. Pure. What is written is written before the request is acted upon, so that whoever comes after a kill -9 knows of everything
 * that may have been begun.
 */

import { formatDuration } from '../../base/pure/format.ts';
import type { ServiceHealth } from '../../compose/rules/readiness.ts';
import type { CampaignSpec, ExperimentSpec } from '../spec.ts';
import {
  type AttemptEnd,
  type CampaignEvent,
  type CampaignState,
  type Experiment,
  type FinalState,
  isFinal,
  type OpenAttempt,
  type Recovery,
  type Request,
  type ServiceState,
  type Write,
} from './state.ts';

/** A service that cannot be asked is asked again after so long; so many times in a row count as unhealthy. */
export const UNCLEAR_WAIT_MS = 5_000;
export const MAX_UNCLEAR = 60;

export interface Context {
  readonly spec: CampaignSpec;
  /** A name for an attempt that nobody else has, ever. */
  readonly attemptId: (position: number, number: number) => string;
}

export interface Step {
  readonly state: CampaignState;
  readonly writes: readonly Write[];
  readonly request: Request;
}

export function next(state: CampaignState, event: CampaignEvent, context: Context): Step {
  const { doing } = state;
  if (doing.kind === 'over') return finish(state, doing.outcome, null, []);
  if (event.kind === 'interrupted') return finish(state, 'interrupted', 'interrupted', []);
  switch (event.kind) {
    case 'began':
      return event.open ? run(state, event.open, true, []) : proceed(state, context, []);
    case 'services-started':
      return proceed({ ...state, areServicesUp: true, wasAway: false }, context, []);
    case 'services-failed':
      return startFailed(state, event, context);
    case 'engine-was-away':
      return proceed(afterOutage(state), context, []);
    case 'attempt-over':
      return doing.kind === 'running' ? over(state, doing, event, context) : proceed(state, context, []);
    case 'checked':
      return doing.kind === 'checking' ? checked(state, doing.position, event, context) : proceed(state, context, []);
    case 'recovered':
      return doing.kind === 'recovering' ? recovered(state, doing.position, context) : proceed(state, context, []);
    case 'waited':
      return proceed(state, context, []);
  }
}

/** The first experiment that can be run, in the order in which they were written. */
function proceed(state: CampaignState, context: Context, writes: readonly Write[]): Step {
  const position = state.experiments.findIndex((one) => !isFinal(one) && !service(state, one.service).quarantined);
  if (position < 0) return finishAll(state, writes);
  const { service: name } = state.experiments[position]!;
  const { mustRecover } = service(state, name);
  // Also before the services are started: one that hangs since an earlier process was killed would not get ready. Not after an
  // outage: what it depends on may be down, and it would be blamed for that.
  if (mustRecover && !state.wasAway) return recover(state, position, mustRecover, context, writes);
  if (!state.areServicesUp) return startServices(state, writes);
  return {
    state: { ...state, doing: { kind: 'checking', position } },
    writes,
    request: { kind: 'check-health', service: name },
  };
}

function startServices(state: CampaignState, writes: readonly Write[]): Step {
  const open = state.experiments.filter((one) => !isFinal(one) && !service(state, one.service).quarantined);
  const services = [...new Set(open.map((one) => one.service))];
  const request = { kind: 'start-services', services, again: state.failedStarts > 0 || state.wasAway } as const;
  return { state: { ...state, doing: { kind: 'starting' } }, writes, request };
}

/** One bad moment of a machine that is busy does not cost a night: what failed is tried again, as often as a service is restarted. */
function startFailed(
  state: CampaignState,
  { why, mayPass }: Extract<CampaignEvent, { kind: 'services-failed' }>,
  { spec }: Context,
): Step {
  const failedStarts = state.failedStarts + 1;
  if (!mayPass || failedStarts > spec.health.maxRestarts) return finish(state, 'stopped', why, []);
  const position = state.experiments.findIndex((one) => !isFinal(one));
  return wait({ ...state, failedStarts }, position, spec.coolDownMs, 'before the services are started again');
}

type Checked = Extract<CampaignEvent, { kind: 'checked' }>;

function checked(state: CampaignState, position: number, { health, container }: Checked, context: Context): Step {
  const { service: name } = state.experiments[position]!;
  if (health.healthy && container !== null)
    return begin(changed(state, name, { unclear: 0 }), position, container, context);
  const unclear = service(state, name).unclear + 1;
  if (isUnclear(health) && unclear < MAX_UNCLEAR) {
    const why = `${name}: ${health.reason || `its health is ${health.status}`}`;
    return wait(changed(state, name, { unclear }), position, UNCLEAR_WAIT_MS, why);
  }
  const why = health.healthy ? 'it has no running container' : health.reason || `it is ${health.status}`;
  if (health.remedy === 'none' && !health.healthy) return quarantine(state, name, why, context);
  const remedy = health.remedy === 'recreate' ? 'recreate' : 'restart';
  return recover(changed(state, name, { unclear: 0 }), position, { remedy, why }, context, []);
}

/** Not a verdict: the Engine may be away, or the health check has not run yet. */
const isUnclear = ({ status, healthy, isLasting }: ServiceHealth): boolean =>
  !healthy && !isLasting && (status === 'unknown' || status === 'starting');

function begin(state: CampaignState, position: number, container: string, { attemptId }: Context): Step {
  const before = state.experiments[position]!;
  const number = before.attempts + 1;
  const open = { position, attempt: attemptId(position, number), number, container };
  return run(state, open, false, [{ kind: 'attempt-begun', open }]);
}

function run(
  state: CampaignState,
  open: Extract<Request, { kind: 'run' }>['open'],
  joining: boolean,
  writes: readonly Write[],
): Step {
  const before = state.experiments[open.position]!;
  const experiment = { ...before, state: 'running' as const, attempts: Math.max(before.attempts, open.number) };
  return {
    state: { ...withExperiment(state, open.position, experiment), doing: { kind: 'running', open } },
    writes: [...writes, { kind: 'experiment', position: open.position, experiment }],
    request: { kind: 'run', open, joining },
  };
}

function over(
  state: CampaignState,
  { open }: Extract<CampaignState['doing'], { kind: 'running' }>,
  event: Extract<CampaignEvent, { kind: 'attempt-over' }>,
  context: Context,
): Step {
  const experiment = state.experiments[open.position]!;
  const spec = context.spec.experiments[open.position]!;
  const before = { experiment, service: service(state, experiment.service), spec };
  const after = afterAttempt(before, open, event);
  const found = event.wasAway ? afterOutage(state) : state;
  const settled = changed(withExperiment(found, open.position, after.experiment), experiment.service, after.service);
  const mustStop = after.experiment.state === 'failed' && context.spec.onFailure === 'stop';
  if (mustStop && !settled.experiments.every(isFinal)) {
    return finish(settled, 'stopped', `${experiment.name} failed, and on_failure is stop`, after.writes);
  }
  return proceed(settled, context, after.writes);
}

function recover(
  state: CampaignState,
  position: number,
  because: Recovery,
  context: Context,
  writes: readonly Write[],
): Step {
  const { service: name } = state.experiments[position]!;
  const { restarts } = service(state, name);
  const { maxRestarts } = context.spec.health;
  if (restarts >= maxRestarts)
    return quarantine(state, name, `${because.why}; restarted ${restarts} of ${maxRestarts} times`, context, writes);
  const counted = changed(state, name, { restarts: restarts + 1, mustRecover: null });
  return {
    state: { ...counted, doing: { kind: 'recovering', position, because } },
    writes,
    request: { kind: 'recover', service: name, ...because },
  };
}

/** Whether it is back or not, it is left alone for a while and looked at then: that look decides. */
function recovered(state: CampaignState, position: number, { spec }: Context): Step {
  return wait(state, position, spec.coolDownMs, `after the restart of ${state.experiments[position]!.service}`);
}

const wait = (state: CampaignState, position: number, ms: number, why: string): Step => ({
  state: { ...state, doing: { kind: 'waiting', position } },
  writes: [],
  request: { kind: 'wait', ms, why },
});

/** Its experiments stay pending: a resume takes them up when the service has been mended. */
function quarantine(
  state: CampaignState,
  name: string,
  why: string,
  context: Context,
  writes: readonly Write[] = [],
): Step {
  const reason = `service ${name} is quarantined: ${why}`;
  const told = state.experiments.map((one) => (one.service === name && !isFinal(one) ? { ...one, reason } : one));
  const more = told.flatMap((experiment, position): readonly Write[] =>
    experiment === state.experiments[position] ? [] : [{ kind: 'experiment', position, experiment }],
  );
  return proceed(changed({ ...state, experiments: told }, name, { quarantined: why }), context, [...writes, ...more]);
}

function finishAll(state: CampaignState, writes: readonly Write[]): Step {
  const quarantined = Object.entries(state.services).filter(([, { quarantined: why }]) => why !== null);
  if (!state.experiments.every(isFinal)) {
    const reason = quarantined
      .map(([name, { quarantined: why }]) => `service ${name} is quarantined: ${why}`)
      .join('; ');
    return finish(state, 'stopped', reason, writes);
  }
  const failed = state.experiments.filter((one) => one.state === 'failed').length;
  return finish(state, failed > 0 ? 'failed' : 'done', null, writes);
}

function finish(state: CampaignState, outcome: FinalState, reason: string | null, writes: readonly Write[]): Step {
  const wasOver = state.doing.kind === 'over';
  return {
    state: { ...state, doing: { kind: 'over', outcome } },
    writes: wasOver ? [] : [...writes, { kind: 'campaign', state: outcome, reason }],
    request: { kind: 'finish', outcome, reason },
  };
}

// Where a campaign is, with a part of it changed.

export const service = (state: CampaignState, name: string): ServiceState => state.services[name]!;

export const changed = (state: CampaignState, name: string, part: Partial<ServiceState>): CampaignState => ({
  ...state,
  services: { ...state.services, [name]: { ...service(state, name), ...part } },
});

export const withExperiment = (
  state: CampaignState,
  position: number,
  experiment: CampaignState['experiments'][number],
): CampaignState => ({
  ...state,
  experiments: state.experiments.map((one, index) => (index === position ? experiment : one)),
});

/**
 * All services are started again, those that they depend on included: that costs nothing where they live. A restart that the Engine's
 * absence spoilt did not happen.
 */
export function afterOutage(state: CampaignState): CampaignState {
  const down = { ...state, areServicesUp: false, wasAway: true };
  if (state.doing.kind !== 'recovering') return down;
  const { position, because } = state.doing;
  const { service: name } = state.experiments[position]!;
  return changed(down, name, { restarts: service(state, name).restarts - 1, mustRecover: because });
}

// What the end of one attempt means for its experiment and for its service.

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
