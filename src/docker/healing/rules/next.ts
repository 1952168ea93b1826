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
  type HealStep,
  NEW_PATIENT,
  type Patient,
  type PatientEvent,
  type Sight,
  type Trial,
} from './state.ts';

export function next(patient: Patient, event: PatientEvent, context: HealContext): HealStep {
  switch (event.kind) {
    case 'away':
      return still({ ...patient, away: event.why });
    case 'missing':
      return patient.state.kind === 'gone' ? still(patient) : gone(patient, context);
    case 'seen':
      // While nothing can be asked, nothing is decided; a fresh one comes when the Engine is back.
      return patient.away === null ? seen(patient, event.sight, event.engineWasAway, context) : still(patient);
    case 'called-off':
      return patient.state.kind === 'restarting'
        ? seen(calledOff(patient, patient.state.before), event.sight, false, context)
        : still(patient);
    case 'tried':
      return patient.state.kind === 'restarting'
        ? tried(patient, patient.state, event.trial, event.sight, context)
        : still(patient);
    case 'not-removed':
      return patient.state.kind === 'gave-up' ? still(removeLater(patient, event.why, context)) : still(patient);
    case 'woke':
      return woke(patient, context);
  }
}

/** When `woke` is due; null: never. Nothing is due while the Engine is away. */
export function wakeAt({ state, away }: Patient): HealContext['now'] | null {
  if (away !== null) return null;
  if (state.kind === 'backing-off') return state.until;
  return state.kind === 'gave-up' ? state.retryAt : null;
}

const still = (patient: Patient): HealStep => ({ patient, effects: [] });

function gone(patient: Patient, { policy }: HealContext): HealStep {
  const isHopeless = patient.state.kind === 'gave-up' && policy.cleanup === 'remove';
  const removed = isHopeless
    ? `it could not be saved, and was removed: ${patient.reason}`
    : 'the container was removed';
  const why = patient.sight === null ? 'there is no such container' : removed;
  const patientGone: Patient = { ...NEW_PATIENT, counters: patient.counters, state: { kind: 'gone' }, reason: why };
  return { patient: patientGone, effects: [{ kind: 'tell', what: 'gone', why }] };
}

const removing = ({ sight }: Patient): readonly HealEffect[] =>
  sight === null ? [] : [{ kind: 'remove', id: sight.id, startedAt: sight.startedAt }];

/** An Engine that was away, or had something else to do, is asked again. */
const removeLater = (patient: Patient, why: string, { now }: HealContext): Patient => ({
  ...patient,
  state: { kind: 'gave-up', retryAt: after(now, REMOVE_AGAIN_MS) },
  reason: `${patient.why}: it could not be removed: ${why}`,
});
const REMOVE_AGAIN_MS = 60_000;

function woke(patient: Patient, { now, policy }: HealContext): HealStep {
  const at = wakeAt(patient);
  const { state, counters } = patient;
  if (at === null || now < at) return still(patient);
  if (state.kind === 'gave-up' && policy.cleanup === 'remove')
    return { patient: { ...patient, state: { kind: 'gave-up', retryAt: null } }, effects: removing(patient) };
  return state.kind === 'backing-off'
    ? restart(patient, state.attempt, state.before, [])
    : restart(patient, 'quiet', counters, []);
}

function restart(
  patient: Patient,
  attempt: Attempt,
  before: Patient['counters'],
  effects: readonly HealEffect[],
): HealStep {
  const { sight } = patient;
  if (sight === null) return still(patient);
  return {
    patient: { ...patient, state: { kind: 'restarting', attempt, before } },
    effects: [...effects, { kind: 'restart', id: sight.id, startedAt: sight.startedAt }],
  };
}

/** As if it had never been sentenced. */
const calledOff = (patient: Patient, counters: Patient['counters']): Patient => ({
  ...patient,
  state: { kind: 'watching' },
  counters,
  past: null,
  why: '',
  reason: '',
});

function seen(patient: Patient, sight: Sight, engineWasAway: boolean, context: HealContext): HealStep {
  const { state } = patient;
  // What happens meanwhile is our own doing; `tried` says how it was afterwards.
  if (state.kind === 'restarting' && patient.sight?.id === sight.id) return still(patient);
  if (patient.sight?.id !== sight.id) {
    // Another container of that name: what the Engine did before says nothing about it.
    const isFirst = patient.sight === null;
    return look({ ...NEW_PATIENT, away: patient.away }, sight, isFirst && engineWasAway, context);
  }
  if (state.kind === 'watching') {
    // Told late, of one that we have restarted since.
    if (sight.startedAt === patient.past) return still(patient);
    return look(patient, sight, engineWasAway, context);
  }
  if (sight.startedAt !== patient.past) return look(startedByOthers(patient), sight, engineWasAway, context);
  if (!isWell(sight)) return still({ ...patient, sight, seenAt: context.now });
  // It recovered by itself, or somebody paused it: nothing is to be done now.
  const counters = state.kind === 'backing-off' ? state.before : patient.counters;
  return look(calledOff(patient, counters), sight, false, context);
}

const isWell = ({ phase, health }: Sight): boolean =>
  phase === 'paused' || (phase === 'running' && health.status === 'healthy');

/** By hand, mostly: what was given up or had ended begins again. */
function startedByOthers(patient: Patient): Patient {
  const { state, counters } = patient;
  const kept = state.kind === 'backing-off' ? state.before : counters;
  const isOver = state.kind === 'gave-up' || state.kind === 'ended';
  return { ...calledOff(patient, isOver ? { ...FRESH, total: counters.total } : kept), attempt: 'first' };
}

/** Judges an incarnation on which nothing has been decided yet. */
function look(patient: Patient, sight: Sight, engineWasAway: boolean, context: HealContext): HealStep {
  const { now } = context;
  // The health of one incarnation is no merit of the next.
  const since = patient.sight?.startedAt === sight.startedAt ? patient.healthySince : null;
  const current: Patient = { ...patient, sight, seenAt: now, healthySince: since };
  if (sight.phase === 'ended' && sight.cause !== null && sight.crashesBelongTo === null) {
    const cause: ExitCause = engineWasAway ? { kind: 'engine', why: ENDED_WITH_ENGINE } : sight.cause;
    return sentence(current, cause, null, context);
  }
  if (sight.phase === 'running' && sight.health.status === 'unhealthy' && sight.healthBelongsTo === null) {
    const why = sight.health.reason || 'its health check failed';
    return sentence(current, STILL_RAN, why, context);
  }
  return still({ ...current, healthySince: healthySinceOf(since, sight, now) });
}

const ENDED_WITH_ENGINE = 'it ended while the Docker Engine was away';
const STILL_RAN: ExitCause = { kind: 'unknown', why: 'it ran when it was judged' };

function healthySinceOf(since: HealContext['now'] | null, { phase, health }: Sight, now: HealContext['now']) {
  if (phase === 'paused' || health.status === 'unknown') return since;
  return phase === 'running' && (health.status === 'healthy' || health.status === 'none') ? (since ?? now) : null;
}

/** One clause of decide() for every failure: the budget is the same whatever happened. */
function sentence(patient: Patient, cause: ExitCause, unhealthy: string | null, context: HealContext): HealStep {
  const { sight, healthySince, attempt } = patient;
  const end: End = {
    cause,
    uptimeMs: sight?.uptimeMs ?? 0,
    healthyMs: healthySince === null ? 0 : context.now - healthySince,
    attempt,
    unhealthy,
  };
  const verdict = decide(end, patient.counters, context.policy, context);
  const why = unhealthy ?? (cause.kind === 'engine' ? cause.why : describeEnd(exitView(cause)));
  const sentenced: Patient = { ...patient, past: sight?.startedAt ?? null, healthySince: null };
  return carryOut(sentenced, verdict, why, { end, nextAttempt: 'restart', before: patient.counters }, context);
}

interface Course {
  /** How it failed, and the attempt that comes. */
  readonly end: End;
  readonly nextAttempt: Attempt;
  readonly before: Patient['counters'];
}

function carryOut(patient: Patient, verdict: Verdict, why: string, course: Course, context: HealContext): HealStep {
  const { now, policy } = context;
  const { kind, counters, inMs, crash, text } = verdict;
  const decided: Patient = { ...patient, counters, why, reason: `${why}: ${text}` };
  const failure = failureOf(patient, verdict, why, course.end);
  const told: readonly HealEffect[] = crash ? [{ kind: 'tell', what: 'failed', why, failure }] : [];
  if (kind === 'complete') return { patient: { ...decided, state: { kind: 'ended' } }, effects: told };
  if (kind === 'give-up') {
    // What is removed is not tried once more.
    const isRemoved = policy.cleanup === 'remove';
    const retryAt = inMs === null || isRemoved ? null : after(now, inMs);
    const isNews = course.end.attempt !== 'quiet';
    const news: readonly HealEffect[] = isNews ? [{ kind: 'tell', what: 'gave-up', why: decided.reason }] : [];
    return {
      patient: { ...decided, state: { kind: 'gave-up', retryAt } },
      effects: [...told, ...news, ...(isRemoved ? removing(decided) : [])],
    };
  }
  const { nextAttempt, before } = course;
  if (inMs === 0 && decided.away === null) return restart(decided, nextAttempt, before, told);
  const until = after(now, inMs ?? 0);
  return {
    patient: { ...decided, state: { kind: 'backing-off', until, attempt: nextAttempt, before } },
    effects: told,
  };
}

function failureOf({ sight }: Patient, { rule, text, counters }: Verdict, why: string, end: End): Failure {
  const { cause, uptimeMs, unhealthy } = end;
  return {
    why,
    exit: exitView(cause, unhealthy),
    hasEnded: unhealthy === null && cause.kind !== 'spawn-failed',
    startedAt: sight?.startedAt ?? '',
    uptimeMs,
    rule,
    decision: text,
    counters,
  };
}

function tried(
  patient: Patient,
  { attempt, before }: { readonly attempt: Attempt; readonly before: Patient['counters'] },
  trial: Trial,
  sight: Sight | null,
  context: HealContext,
): HealStep {
  const isNew = sight !== null && sight.startedAt !== patient.past;
  if (isNew || (trial.kind === 'done' && sight === null)) {
    const { counters } = patient;
    const begun: Patient = {
      ...patient,
      state: { kind: 'watching' },
      counters: { ...counters, spawnErrors: 0, total: counters.total + 1 },
      attempt,
      why: '',
      reason: '',
    };
    const { patient: looked, effects } = sight === null ? still(begun) : look(begun, sight, false, context);
    return { patient: looked, effects: [{ kind: 'tell', what: 'restarted', why: patient.why }, ...effects] };
  }
  const why = trial.kind === 'done' ? 'the Engine says it restarted it, and did not' : trial.why;
  const problem = { code: 'other', message: why, heals: trial.kind !== 'refused' } as const;
  const cause: ExitCause = { kind: 'spawn-failed', problem };
  const end: End = { cause, uptimeMs: 0, healthyMs: 0, attempt, unhealthy: null };
  const verdict = decide(end, patient.counters, context.policy, context);
  const current = sight === null ? patient : { ...patient, sight, seenAt: context.now };
  const course = { end, nextAttempt: attempt, before };
  return carryOut(current, verdict, describeEnd(exitView(cause)), course, context);
}

// How a container that is looked after is, in words for people and programs.

/** What its health comes to now: Docker's own verdict, and what we know besides. */
export function healthOf({ away, state, sight, past, why, reason }: Patient): HealthVerdict {
  if (away !== null) return { status: 'unknown', reason: away };
  if (state.kind === 'gone') return { status: 'unknown', reason };
  if (sight === null) return { status: 'unknown', reason: 'not checked yet' };
  if (state.kind === 'restarting') return { status: 'starting', reason: `it is being restarted: ${why}` };
  if (state.kind === 'watching' && sight.startedAt === past)
    return { status: 'starting', reason: 'it was restarted, and not seen since' };
  if (sight.phase !== 'ended') return sight.health;
  const how = sight.cause === null ? 'it does not run' : describeEnd(exitView(sight.cause));
  const who = sight.crashesBelongTo === null ? '' : `; not restarted by us: ${sight.crashesBelongTo}`;
  return { status: 'unhealthy', reason: `${how}${who}` };
}

/** Two patients with the same summary look the same from outside. */
export function summaryOf(patient: Patient): string {
  const { state, sight, counters, away, reason } = patient;
  const { status, reason: because } = healthOf(patient);
  return JSON.stringify([state.kind, wakeAt(patient), sight?.id, status, because, counters.total, away, reason]);
}
