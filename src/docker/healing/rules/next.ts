/** What follows from one event for one container that is looked after. Pure: what is to be done comes out as effects. */
import { describeEnd, type ExitCause, exitView } from '../../../base/pure/exit.ts';
import { after } from '../../../base/pure/ids.ts';
import type { HealthVerdict } from '../../../supervision/rules/container-health.ts';
import { type Attempt, FRESH } from '../../../supervision/rules/lifecycle/state.ts';
import { decide, type End, type Verdict } from '../../../supervision/rules/restart/decide.ts';
import {
  type Failure,
  type HealContext,
  type HealEffect,
  type HealingEvent,
  type HealingObservation,
  type HealingState,
  type HealStep,
  NEW_HEALING_STATE,
  type RestartResult,
} from './state.ts';

export function next(healing: HealingState, event: HealingEvent, context: HealContext): HealStep {
  switch (event.kind) {
    case 'away':
      return still({ ...healing, away: event.why });
    case 'missing':
      return healing.state.kind === 'gone' ? still(healing) : gone(healing, context);
    case 'seen':
      // While nothing can be asked, nothing is decided; a fresh one comes when the Engine is back.
      return healing.away === null ? seen(healing, event.observation, event.engineWasAway, context) : still(healing);
    case 'called-off':
      return healing.state.kind === 'restarting'
        ? seen(calledOff(healing, healing.state.before), event.observation, false, context)
        : still(healing);
    case 'tried':
      return healing.state.kind === 'restarting'
        ? tried(healing, healing.state, event.trial, event.observation, context)
        : still(healing);
    case 'not-removed':
      return healing.state.kind === 'gave-up' ? still(removeLater(healing, event.why, context)) : still(healing);
    case 'woke':
      return woke(healing, context);
  }
}

/** When `woke` is due; null: never. Nothing is due while the Engine is away. */
export function wakeAt({ state, away }: HealingState): HealContext['now'] | null {
  if (away !== null) return null;
  if (state.kind === 'backing-off') return state.until;
  return state.kind === 'gave-up' ? state.retryAt : null;
}

const still = (healing: HealingState): HealStep => ({ healing, effects: [] });

function gone(healing: HealingState, { policy }: HealContext): HealStep {
  const isHopeless = healing.state.kind === 'gave-up' && policy.cleanup === 'remove';
  const removed = isHopeless
    ? `it could not be saved, and was removed: ${healing.reason}`
    : 'the container was removed';
  const why = healing.observation === null ? 'there is no such container' : removed;
  const containerGone: HealingState = {
    ...NEW_HEALING_STATE,
    counters: healing.counters,
    state: { kind: 'gone' },
    reason: why,
  };
  return { healing: containerGone, effects: [{ kind: 'tell', what: 'gone', why }] };
}

const removing = ({ observation }: HealingState): readonly HealEffect[] =>
  observation === null ? [] : [{ kind: 'remove', id: observation.id, startedAt: observation.startedAt }];

/** An Engine that was away, or had something else to do, is asked again. */
const removeLater = (healing: HealingState, why: string, { now }: HealContext): HealingState => ({
  ...healing,
  state: { kind: 'gave-up', retryAt: after(now, REMOVE_AGAIN_MS) },
  reason: `${healing.why}: it could not be removed: ${why}`,
});
const REMOVE_AGAIN_MS = 60_000;

function woke(healing: HealingState, { now, policy }: HealContext): HealStep {
  const at = wakeAt(healing);
  const { state, counters } = healing;
  if (at === null || now < at) return still(healing);
  if (state.kind === 'gave-up' && policy.cleanup === 'remove')
    return { healing: { ...healing, state: { kind: 'gave-up', retryAt: null } }, effects: removing(healing) };
  return state.kind === 'backing-off'
    ? restart(healing, state.attempt, state.before, [])
    : restart(healing, 'quiet', counters, []);
}

function restart(
  healing: HealingState,
  attempt: Attempt,
  before: HealingState['counters'],
  effects: readonly HealEffect[],
): HealStep {
  const { observation } = healing;
  if (observation === null) return still(healing);
  return {
    healing: { ...healing, state: { kind: 'restarting', attempt, before } },
    effects: [...effects, { kind: 'restart', id: observation.id, startedAt: observation.startedAt }],
  };
}

/** As if it had never been sentenced. */
const calledOff = (healing: HealingState, counters: HealingState['counters']): HealingState => ({
  ...healing,
  state: { kind: 'watching' },
  counters,
  past: null,
  why: '',
  reason: '',
});

function seen(
  healing: HealingState,
  observation: HealingObservation,
  engineWasAway: boolean,
  context: HealContext,
): HealStep {
  const { state } = healing;
  // What happens meanwhile is our own doing; `tried` says how it was afterwards.
  if (state.kind === 'restarting' && healing.observation?.id === observation.id) return still(healing);
  if (healing.observation?.id !== observation.id) {
    // Another container of that name: what the Engine did before says nothing about it.
    const isFirst = healing.observation === null;
    return look({ ...NEW_HEALING_STATE, away: healing.away }, observation, isFirst && engineWasAway, context);
  }
  if (state.kind === 'watching') {
    // Told late, of one that we have restarted since.
    if (observation.startedAt === healing.past) return still(healing);
    return look(healing, observation, engineWasAway, context);
  }
  if (observation.startedAt !== healing.past)
    return look(startedByOthers(healing), observation, engineWasAway, context);
  if (!isWell(observation)) return still({ ...healing, observation, seenAt: context.now });
  // It recovered by itself, or somebody paused it: nothing is to be done now.
  const counters = state.kind === 'backing-off' ? state.before : healing.counters;
  return look(calledOff(healing, counters), observation, false, context);
}

const isWell = ({ phase, health }: HealingObservation): boolean =>
  phase === 'paused' || (phase === 'running' && health.status === 'healthy');

/** By hand, mostly: what was given up or had ended begins again. */
function startedByOthers(healing: HealingState): HealingState {
  const { state, counters } = healing;
  const kept = state.kind === 'backing-off' ? state.before : counters;
  const isOver = state.kind === 'gave-up' || state.kind === 'ended';
  return { ...calledOff(healing, isOver ? { ...FRESH, total: counters.total } : kept), attempt: 'first' };
}

/** Judges an incarnation on which nothing has been decided yet. */
function look(
  healing: HealingState,
  observation: HealingObservation,
  engineWasAway: boolean,
  context: HealContext,
): HealStep {
  const { now } = context;
  // The health of one incarnation is no merit of the next.
  const since = healing.observation?.startedAt === observation.startedAt ? healing.healthySince : null;
  const current: HealingState = { ...healing, observation, seenAt: now, healthySince: since };
  if (observation.phase === 'ended' && observation.cause !== null && observation.crashesBelongTo === null) {
    const cause: ExitCause = engineWasAway ? { kind: 'engine', why: ENDED_WITH_ENGINE } : observation.cause;
    return sentence(current, cause, null, context);
  }
  if (
    observation.phase === 'running' &&
    observation.health.status === 'unhealthy' &&
    observation.healthBelongsTo === null
  ) {
    const why = observation.health.reason || 'its health check failed';
    return sentence(current, STILL_RAN, why, context);
  }
  return still({ ...current, healthySince: healthySinceOf(since, observation, now) });
}

const ENDED_WITH_ENGINE = 'it ended while the Docker Engine was away';
const STILL_RAN: ExitCause = { kind: 'unknown', why: 'it ran when it was judged' };

function healthySinceOf(
  since: HealContext['now'] | null,
  { phase, health }: HealingObservation,
  now: HealContext['now'],
) {
  if (phase === 'paused' || health.status === 'unknown') return since;
  return phase === 'running' && (health.status === 'healthy' || health.status === 'none') ? (since ?? now) : null;
}

/** One clause of decide() for every failure: the budget is the same whatever happened. */
function sentence(healing: HealingState, cause: ExitCause, unhealthy: string | null, context: HealContext): HealStep {
  const { observation, healthySince, attempt } = healing;
  const end: End = {
    cause,
    uptimeMs: observation?.uptimeMs ?? 0,
    healthyMs: healthySince === null ? 0 : context.now - healthySince,
    attempt,
    unhealthy,
  };
  const verdict = decide(end, healing.counters, context.policy, context);
  const why = unhealthy ?? (cause.kind === 'engine' ? cause.why : describeEnd(exitView(cause)));
  const sentenced: HealingState = { ...healing, past: observation?.startedAt ?? null, healthySince: null };
  return carryOut(sentenced, verdict, why, { end, nextAttempt: 'restart', before: healing.counters }, context);
}

interface FailedAttempt {
  /** How it failed, and the attempt that comes. */
  readonly end: End;
  readonly nextAttempt: Attempt;
  readonly before: HealingState['counters'];
}

function carryOut(
  healing: HealingState,
  verdict: Verdict,
  why: string,
  course: FailedAttempt,
  context: HealContext,
): HealStep {
  const { now, policy } = context;
  const { kind, counters, inMs, crash, text } = verdict;
  const decided: HealingState = { ...healing, counters, why, reason: `${why}: ${text}` };
  const failure = failureOf(healing, verdict, why, course.end);
  const told: readonly HealEffect[] = crash ? [{ kind: 'tell', what: 'failed', why, failure }] : [];
  if (kind === 'complete') return { healing: { ...decided, state: { kind: 'ended' } }, effects: told };
  if (kind === 'give-up') {
    // What is removed is not tried once more.
    const isRemoved = policy.cleanup === 'remove';
    const retryAt = inMs === null || isRemoved ? null : after(now, inMs);
    const isNews = course.end.attempt !== 'quiet';
    const news: readonly HealEffect[] = isNews ? [{ kind: 'tell', what: 'gave-up', why: decided.reason }] : [];
    return {
      healing: { ...decided, state: { kind: 'gave-up', retryAt } },
      effects: [...told, ...news, ...(isRemoved ? removing(decided) : [])],
    };
  }
  const { nextAttempt, before } = course;
  if (inMs === 0 && decided.away === null) return restart(decided, nextAttempt, before, told);
  const until = after(now, inMs ?? 0);
  return {
    healing: { ...decided, state: { kind: 'backing-off', until, attempt: nextAttempt, before } },
    effects: told,
  };
}

function failureOf({ observation }: HealingState, { rule, text, counters }: Verdict, why: string, end: End): Failure {
  const { cause, uptimeMs, unhealthy } = end;
  return {
    why,
    exit: exitView(cause, unhealthy),
    hasEnded: unhealthy === null && cause.kind !== 'spawn-failed',
    startedAt: observation?.startedAt ?? '',
    uptimeMs,
    rule,
    decision: text,
    counters,
  };
}

function tried(
  healing: HealingState,
  { attempt, before }: { readonly attempt: Attempt; readonly before: HealingState['counters'] },
  trial: RestartResult,
  observation: HealingObservation | null,
  context: HealContext,
): HealStep {
  const isNew = observation !== null && observation.startedAt !== healing.past;
  if (isNew || (trial.kind === 'done' && observation === null)) {
    const { counters } = healing;
    const begun: HealingState = {
      ...healing,
      state: { kind: 'watching' },
      counters: { ...counters, spawnErrors: 0, total: counters.total + 1 },
      attempt,
      why: '',
      reason: '',
    };
    const { healing: looked, effects } = observation === null ? still(begun) : look(begun, observation, false, context);
    return { healing: looked, effects: [{ kind: 'tell', what: 'restarted', why: healing.why }, ...effects] };
  }
  const why = trial.kind === 'done' ? 'the Engine says it restarted it, and did not' : trial.why;
  const problem = { code: 'other', message: why, heals: trial.kind !== 'refused' } as const;
  const cause: ExitCause = { kind: 'spawn-failed', problem };
  const end: End = { cause, uptimeMs: 0, healthyMs: 0, attempt, unhealthy: null };
  const verdict = decide(end, healing.counters, context.policy, context);
  const current = observation === null ? healing : { ...healing, observation, seenAt: context.now };
  const course = { end, nextAttempt: attempt, before };
  return carryOut(current, verdict, describeEnd(exitView(cause)), course, context);
}

// How a container that is looked after is, in words for people and programs.

/** What its health comes to now: Docker's own verdict, and what we know besides. */
export function healthOf({ away, state, observation, past, why, reason }: HealingState): HealthVerdict {
  if (away !== null) return { status: 'unknown', reason: away };
  if (state.kind === 'gone') return { status: 'unknown', reason };
  if (observation === null) return { status: 'unknown', reason: 'not checked yet' };
  if (state.kind === 'restarting') return { status: 'starting', reason: `it is being restarted: ${why}` };
  if (state.kind === 'watching' && observation.startedAt === past)
    return { status: 'starting', reason: 'it was restarted, and not seen since' };
  if (observation.phase !== 'ended') return observation.health;
  const how = observation.cause === null ? 'it does not run' : describeEnd(exitView(observation.cause));
  const who = observation.crashesBelongTo === null ? '' : `; not restarted by us: ${observation.crashesBelongTo}`;
  return { status: 'unhealthy', reason: `${how}${who}` };
}

/** Two states with the same summary look the same from outside. */
export function summaryOf(healing: HealingState): string {
  const { state, observation, counters, away, reason } = healing;
  const { status, reason: because } = healthOf(healing);
  return JSON.stringify([state.kind, wakeAt(healing), observation?.id, status, because, counters.total, away, reason]);
}
