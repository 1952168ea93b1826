/** The transitions that several states share, each returning the state after it and the effects asked for. */
import { describeExit, exitView, type SpawnProblem } from '../exit.ts';
import { after, type MonoMs, type RunId } from '../ids.ts';
import { decide, type Verdict } from '../restart/decide.ts';
import type {
  Attempt,
  Component,
  ComponentState,
  Context,
  Counters,
  Effect,
  Ended,
  Goal,
  In,
  RunEnd,
  Step,
  TellData,
  TellType,
} from './state.ts';

/** What is known of a run whose main process is, or just was, there. */
export type Live = Pick<In<'stopping'>, 'run' | 'pid' | 'startedAt' | 'attempt'> &
  Partial<Pick<In<'stopping'>, 'ended'>>;
export interface EndedRun extends Ended {
  readonly run: RunId;
  readonly attempt: Attempt;
}

export const neverBegan = (problem: SpawnProblem, { now }: Context): Ended => ({
  cause: { kind: 'spawn-failed', problem },
  at: now,
  uptimeMs: 0,
  asked: true,
});

/** An unplanned end, with nothing of the run left. */
export function afterEnd(counters: Counters, ended: EndedRun, context: Context): Step {
  const { run, cause, at, uptimeMs, asked } = ended;
  const verdict = decide(ended, counters, context.policy, context);
  const end: RunEnd = {
    cause,
    at,
    uptimeMs,
    asked,
    crash: verdict.crash,
    rule: verdict.rule,
    decision: verdict.text,
    counters: verdict.counters,
  };
  const { state, told } = following(verdict, run, context);
  return step(state, verdict.counters, tellExited(run, end), { kind: 'end-run', run, end }, told);
}

function following(verdict: Verdict, run: RunId, { now }: Context): { state: ComponentState; told: Effect } {
  const at = verdict.inMs === null ? null : after(now, verdict.inMs);
  switch (verdict.kind) {
    case 'complete':
      return { state: { kind: 'completed' }, told: tell('component.completed', run, {}) };
    case 'restart':
      return {
        state: { kind: 'backing-off', until: at ?? now },
        told: tell('component.backing-off', run, { in_ms: verdict.inMs }),
      };
    case 'give-up':
      return {
        state: { kind: 'gave-up', rule: verdict.rule, retryAt: at },
        told: tell('component.gave-up', run, { rule: verdict.rule, decision: verdict.text, retry_in_ms: verdict.inMs }),
      };
    default:
      throw new Error(`no such verdict: ${verdict.kind satisfies never}`);
  }
}

/** Starts a run, or waits for the dependencies it needs first. */
export function begin(counters: Counters, attempt: Attempt, { now, newRun, unmet }: Context): Step {
  if (unmet.length > 0)
    return step({ kind: 'waiting', attempt }, counters, tell('component.waiting', null, { for: unmet }));
  const counted = attempt === 'first' ? counters : { ...counters, total: counters.total + 1 };
  const state: ComponentState = { kind: 'starting', run: newRun, since: now, attempt };
  return step(state, counted, tell('component.starting', newRun, { attempt }), { kind: 'spawn', run: newRun, attempt });
}

export function stopping(
  live: Live,
  goal: Goal,
  { now, policy }: Context,
): { state: In<'stopping'>; effects: readonly Effect[] } {
  const { run, pid, startedAt, attempt, ended = null } = live;
  const until = after(now, policy.stop.graceMs);
  return {
    state: { kind: 'stopping', run, pid, startedAt, attempt, stage: 'asked', until, goal, ended },
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

export function tellExited(run: RunId, { cause, uptimeMs, crash, rule, decision }: RunEnd): Effect {
  const { code, signal } = exitView(cause);
  const exit = describeExit(exitView(cause));
  return tell('component.exited', run, { exit, code, signal, uptime_ms: Math.round(uptimeMs), crash, rule, decision });
}

export const isDue = (at: MonoMs | null, { now }: Context): boolean => at !== null && now >= at;
export const stay = (component: Component): Step => ({ component, effects: [] });
export const step = (state: ComponentState, counters: Counters, ...effects: readonly Effect[]): Step => ({
  component: { state, counters },
  effects,
});
