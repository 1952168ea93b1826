/** The transitions that several states share, each returning the state after it and the effects asked for. */
import { describeExit, type ExitCause, exitView, type SpawnProblem } from '../../../base/pure/exit.ts';
import { after, type MonoMs, type RunId } from '../../../base/pure/ids.ts';
import { decide, isObserved, type Verdict } from '../restart/decide.ts';
import {
  type Attempt,
  type Component,
  type ComponentState,
  type Context,
  type Counters,
  type Effect,
  type Ended,
  type Goal,
  type In,
  isUnasked,
  type LifecyclePolicy,
  type RunEnd,
  type Step,
  type TellData,
  type TellType,
} from './state.ts';

/** What is known of a run whose main process is, or just was, there. */
export type Live = Pick<In<'stopping'>, 'run' | 'pid' | 'startedAt' | 'attempt' | 'healthySince'> &
  Partial<Pick<In<'stopping'>, 'ended' | 'unhealthy' | 'freeze' | 'hold'>>;
export interface EndedRun extends Ended {
  readonly run: RunId;
  readonly attempt: Attempt;
}

export const neverBegan = (problem: SpawnProblem, { now }: Context): Ended => ({
  cause: { kind: 'spawn-failed', problem },
  at: now,
  uptimeMs: 0,
  healthyMs: 0,
  asked: true,
  unhealthy: null,
});

/** The end of the main process of a live run. */
export function endOf(live: Live, cause: ExitCause, at: MonoMs, asked: boolean): Ended {
  const { startedAt, healthySince, unhealthy = null, freeze } = live;
  const uptimeMs = Math.max(0, at - startedAt);
  const healthyMs = healthySince === null ? 0 : Math.max(0, at - healthySince);
  return { cause, at, uptimeMs, healthyMs, asked, unhealthy, ...(freeze ? { freeze } : {}) };
}

const UNSEEN: ExitCause = { kind: 'unknown', why: 'it had put itself in the background, so nobody saw its exit code' };

export const liveOf = ({ run, pid, startedAt, attempt, health, freeze, hold }: In<'running'>): Live => ({
  ...{ run, pid, startedAt, attempt },
  healthySince: health.healthySince,
  ...(freeze ? { freeze } : {}),
  ...(hold ? { hold } : {}),
});

export const unseenEnd = (state: In<'running'>, { now }: Context): Ended => endOf(liveOf(state), UNSEEN, now, true);

/** A daemonised run has lost its main process already: only the rest of its tree is still to go. */
export const withMain = (state: In<'running'>, context: Context): Live =>
  state.daemonised ? { ...liveOf(state), ended: unseenEnd(state, context) } : liveOf(state);

/** An unplanned end, with nothing of the run left. */
export function afterEnd(counters: Counters, ended: EndedRun, context: Context): Step {
  const { run, attempt: _, ...facts } = ended;
  const verdict = decide(ended, counters, context.policy, context);
  const { crash, rule, text: decision } = verdict;
  const end: RunEnd = { ...facts, crash, rule, decision, counters: verdict.counters };
  const ending: readonly Effect[] = [tellExited(run, end), { kind: 'end-run', run, end }];
  // What never began is tried in a turn of its own: a daemon that has just found it may still learn that it is not wanted.
  const hasLived = ended.cause.kind !== 'spawn-failed';
  if (hasLived && verdict.kind === 'restart' && verdict.inMs === 0)
    return andThen(ending, begin(verdict.counters, 'restart', context));
  const { state, told } = following(verdict, run, context);
  return step(state, verdict.counters, ...ending, told, ...cleanUp(state, run, context));
}

/** What ends a run, and in the same step what follows it: written together, so nobody ever finds one without the other. */
export const andThen = (ending: readonly Effect[], { component, effects }: Step): Step => ({
  component,
  effects: [...ending, ...effects],
});

const cleanUp = ({ kind }: ComponentState, run: RunId, { policy }: Context): readonly Effect[] =>
  kind === 'gave-up' && isCleanedUp(policy) ? [{ kind: 'clean-up', run }] : [];

/** What is made for it goes when it gave up: Kubernetes would start it again for ever. */
export const isCleanedUp = ({ driver }: Pick<LifecyclePolicy, 'driver'>): boolean =>
  driver.kind === 'kubernetes' || (driver.kind === 'container' && driver.cleanup === 'remove');

function following(verdict: Verdict, run: RunId, { now }: Context): { state: ComponentState; told: Effect } {
  const at = verdict.inMs === null ? null : after(now, verdict.inMs);
  switch (verdict.kind) {
    case 'complete':
      return { state: { kind: 'completed' }, told: tell('component.completed', run, {}) };
    case 'restart':
      return {
        state: { kind: 'backing-off', until: at ?? now, ...(verdict.machine ? { machine: true } : {}) },
        told: tell('component.backing-off', run, { in_ms: verdict.inMs, decision: verdict.text }),
      };
    case 'give-up':
      return {
        state: { kind: 'gave-up', rule: verdict.rule, retryAt: at, since: now },
        told: tell('component.gave-up', run, { rule: verdict.rule, decision: verdict.text, retry_in_ms: verdict.inMs }),
      };
    default:
      throw new Error(`no such verdict: ${verdict.kind satisfies never}`);
  }
}

/** Starts a run, or waits for the dependencies it needs first. */
export function begin(counters: Counters, attempt: Attempt, { now, newRun, unmet, policy }: Context): Step {
  if (unmet.length > 0)
    return step({ kind: 'waiting', attempt }, counters, tell('component.waiting', null, { for: unmet }));
  const isRestart = isUnasked(attempt) && !isObserved(policy);
  const counted = isRestart ? { ...counters, total: counters.total + 1 } : counters;
  const state: ComponentState = { kind: 'starting', run: newRun, since: now, attempt };
  // Nobody restarts what is only observed: it is watched again.
  const told = isUnasked(attempt) && !isRestart ? 'again' : attempt;
  const starting = tell('component.starting', newRun, { attempt: told });
  return step(state, counted, starting, { kind: 'spawn', run: newRun, attempt });
}

export function stopping(
  live: Live,
  goal: Goal,
  { now, policy }: Context,
): { state: In<'stopping'>; effects: readonly Effect[] } {
  const { run, pid, startedAt, attempt, healthySince, unhealthy = null, ended = null, freeze, hold } = live;
  const until = after(now, policy.stop.graceMs);
  const since = { ...(freeze ? { freeze } : {}), ...(hold ? { hold } : {}) };
  const facts = { run, pid, startedAt, attempt, healthySince, unhealthy, ended, ...since };
  return {
    state: { kind: 'stopping', stage: 'asked', until, goal, ...facts },
    effects: [{ kind: 'signal', run, signal: policy.stop.signal }],
  };
}

export function toStopping(counters: Counters, live: Live, goal: Goal, context: Context): Step {
  const { state, effects } = stopping(live, goal, context);
  return step(
    state,
    counters,
    tell('component.stopping', live.run, { signal: context.policy.stop.signal }),
    ...effects,
  );
}

export const toStopped = (counters: Counters): Step =>
  step({ kind: 'stopped' }, counters, tell('component.stopped', null, {}));

export const tell = (type: TellType, run: RunId | null, data: TellData): Effect => ({ kind: 'tell', type, run, data });

export function tellExited(run: RunId, { cause, uptimeMs, crash, rule, decision, unhealthy }: RunEnd): Effect {
  const view = exitView(cause, unhealthy);
  const { code, signal } = view;
  const exit = describeExit(view);
  const uptime_ms = Math.round(uptimeMs);
  return tell('component.exited', run, { exit, code, signal, uptime_ms, unhealthy, crash, rule, decision });
}

export const isDue = (at: MonoMs | null, { now }: Context): boolean => at !== null && now >= at;
export const stay = (component: Component): Step => ({ component, effects: [] });
export const step = (state: ComponentState, counters: Counters, ...effects: readonly Effect[]): Step => ({
  component: { state, counters },
  effects,
});
