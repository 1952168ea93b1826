/** A run that is being ended: asked, then killed, then reported as unkillable; never forgotten and never doubled. */
import { isClean } from '../../../base/pure/exit.ts';
import { after, type MonoMs } from '../../../base/pure/ids.ts';
import { withStep } from '../freeze/freeze.ts';
import {
  type Component,
  type ComponentEvent,
  type Context,
  type Counters,
  type Effect,
  fresh,
  type In,
  type RunEnd,
  type Step,
} from './state.ts';
import {
  afterEnd,
  andThen,
  begin,
  endOf,
  isDue,
  neverBegan,
  stay,
  step,
  tell,
  tellExited,
  toStopped,
} from './transitions.ts';
import { seen } from './when-held.ts';

/** How long the kernel gets to carry out a SIGKILL before a process counts as unkillable, and how often it is tried again. */
export const KILL_WAIT_MS = 5_000;

type Exited = Extract<ComponentEvent, { kind: 'exited' }>;

export function whenStopping(
  component: Component,
  state: In<'stopping'>,
  event: ComponentEvent,
  context: Context,
): Step {
  const { counters } = component;
  switch (event.kind) {
    case 'started':
      return event.run === state.run
        ? step({ ...seen(state), pid: event.pid, startedAt: event.at }, { ...counters, spawnErrors: 0 })
        : stay(component);
    case 'spawn-failed':
      if (event.run !== state.run) return stay(component);
      return gone(counters, { ...state, ended: neverBegan(event.problem, context) }, context);
    case 'exited':
      return event.run === state.run ? mainEndedAsAsked(counters, state, event, context) : stay(component);
    case 'tree-gone':
      return event.run === state.run && state.ended ? gone(counters, state, context) : stay(component);
    case 'woke':
      return isDue(state.until, context) ? timeIsUp(counters, state, context) : stay(component);
    case 'stop-requested':
      return hurried(counters, { ...state, goal: 'stay-stopped' }, context);
    case 'start-requested':
      if (event.fresh) return step({ ...state, goal: 'start-again' }, fresh(counters));
      // Wanted after all: a daemon that left in the middle of its shutdown comes back to what it was stopping.
      return state.goal === 'stay-stopped' ? step({ ...state, goal: 'start-again' }, counters) : stay(component);
    case 'restart-requested':
      return event.byHand ? hurried(fresh(counters), { ...state, goal: 'start-again' }, context) : stay(component);
    default:
      return stay(component);
  }
}

/** Whoever waits for it should not wait for the steps of an alarm. */
const hurried = (counters: Counters, state: In<'stopping'>, context: Context): Step =>
  state.stage === 'interrupted' ? escalate(counters, state, context) : step(state, counters);

function mainEndedAsAsked(counters: Counters, state: In<'stopping'>, event: Exited, context: Context): Step {
  const ended = { ...state, ended: endOf(state, event.cause, event.at, true) };
  if (event.leftovers.length === 0) return gone(counters, ended, context);
  // The group had its signal; those that left the group get theirs now, within the same grace.
  const { run } = state;
  const again: Effect =
    state.stage === 'asked' || state.stage === 'interrupted'
      ? { kind: 'signal', run, signal: context.policy.stop.signal }
      : { kind: 'kill-tree', run };
  return step(ended, counters, again);
}

/** What could not be asked has not refused: its time begins again. */
function timeIsUp(counters: Counters, { stalled: _, ...state }: In<'stopping'>, context: Context): Step {
  const { now, policy, blind } = context;
  if (!blind) return escalate(counters, state, context);
  const waitMs = state.stage === 'asked' ? Math.max(policy.stop.graceMs, KILL_WAIT_MS) : KILL_WAIT_MS;
  return step({ ...state, stalled: true, until: after(now, waitMs) }, counters);
}

function escalate(counters: Counters, state: In<'stopping'>, { now, policy }: Context): Step {
  const { run } = state;
  const until = after(now, KILL_WAIT_MS);
  const kill: Effect = { kind: 'kill-tree', run };
  switch (state.stage) {
    case 'interrupted': {
      const { signal, graceMs } = policy.stop;
      return step(
        { ...noting(state, `${signal} sent`, now), stage: 'asked', until: after(now, graceMs) },
        counters,
        tell('component.stopping', run, { signal, reason: state.unhealthy }),
        { kind: 'signal', run, signal },
      );
    }
    case 'asked':
      return step(
        { ...noting(state, 'SIGKILL sent to all its processes', now), stage: 'killed', until },
        counters,
        tell('component.killed', run, { grace_ms: policy.stop.graceMs }),
        kill,
      );
    case 'killed':
      return step({ ...state, stage: 'unkillable', until }, counters, tell('component.unkillable', run, {}), kill);
    case 'unkillable':
      return step({ ...state, until }, counters, kill); // it may come out of its system call one day
    default:
      throw new Error(`no such stage: ${state.stage satisfies never}`);
  }
}

/** The steps of an alarm go on to the very end. */
const noting = (state: In<'stopping'>, text: string, now: MonoMs): In<'stopping'> =>
  state.freeze ? { ...state, freeze: withStep(state.freeze, text, now) } : state;

/** Nothing of the run is left: do what was to happen then. */
function gone(counters: Counters, state: In<'stopping'>, context: Context): Step {
  const { run, attempt, goal, freeze } = state;
  if (!state.ended) throw new Error('a run cannot be gone before its main process has ended');
  const ended = freeze ? { ...state.ended, freeze } : state.ended;
  if (goal === 'decide') return afterEnd(counters, { run, attempt, ...ended }, context);
  const decision = goal === 'start-again' ? 'restarted as asked' : 'stopped as asked';
  // It had died, or failed a probe, before anybody asked.
  const crash =
    ended.unhealthy !== null || (!ended.asked && !isClean(ended.cause, context.policy.restart.successCodes));
  const end: RunEnd = { ...ended, crash, rule: 'planned-stop', decision, counters };
  const ending: readonly Effect[] = [tellExited(run, end), { kind: 'end-run', run, end }];
  return andThen(ending, goal === 'start-again' ? begin(counters, 'again', context) : toStopped(counters));
}
