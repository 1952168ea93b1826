/** The whole behaviour of a component: next(component, event, context) → the component afterwards, and what to do. Nothing is done here. */
import { describeExit, type ExitCause, exitView } from '../exit.ts';
import type { MonoMs } from '../ids.ts';
import {
  type Component,
  type ComponentEvent,
  type ComponentState,
  type Context,
  type Ended,
  FRESH,
  type In,
  type Step,
} from './state.ts';
import {
  afterEnd,
  begin,
  isDue,
  type Live,
  neverBegan,
  stay,
  step,
  stopping,
  tell,
  toStopped,
  toStopping,
} from './transitions.ts';
import { whenStopping } from './when-stopping.ts';

type Exited = Extract<ComponentEvent, { kind: 'exited' }>;

/** A command that exits 0 this soon and leaves processes behind has put itself in the background. */
export const DAEMONISE_WINDOW_MS = 10_000;

export function next(component: Component, event: ComponentEvent, context: Context): Step {
  const { state } = component;
  switch (state.kind) {
    case 'stopped':
    case 'completed':
    case 'gave-up':
      return whenIdle(component, event, context);
    case 'waiting':
    case 'backing-off':
      return whenPending(component, event, context);
    case 'starting':
      return whenStarting(component, state, event, context);
    case 'running':
      return whenRunning(component, state, event, context);
    case 'stopping':
      return whenStopping(component, state, event, context);
    default:
      throw new Error(`no such state: ${JSON.stringify(state satisfies never)}`);
  }
}

/** When this state wants to be woken; null: it waits for facts, not for time. */
export function wakeAt(state: ComponentState): MonoMs | null {
  switch (state.kind) {
    case 'backing-off':
    case 'stopping':
      return state.until;
    case 'gave-up':
      return state.retryAt;
    default:
      return null;
  }
}

function whenIdle(component: Component, event: ComponentEvent, context: Context): Step {
  const { state, counters } = component;
  switch (event.kind) {
    case 'start-requested':
      if (event.fresh) return begin(FRESH, 'first', context);
      return state.kind === 'stopped' ? begin(counters, 'first', context) : stay(component);
    case 'restart-requested':
      return event.byHand ? begin(FRESH, 'first', context) : stay(component);
    case 'stop-requested':
      return state.kind === 'stopped' ? stay(component) : toStopped(counters);
    case 'woke':
      return state.kind === 'gave-up' && isDue(state.retryAt, context)
        ? begin(counters, 'quiet', context)
        : stay(component);
    default:
      return stay(component);
  }
}

function whenPending(component: Component, event: ComponentEvent, context: Context): Step {
  const { state, counters } = component;
  switch (event.kind) {
    case 'start-requested':
      return event.fresh ? begin(FRESH, 'first', context) : stay(component);
    case 'restart-requested':
      return event.byHand ? begin(FRESH, 'first', context) : stay(component);
    case 'stop-requested':
      return toStopped(counters);
    case 'dependencies-changed':
      return state.kind === 'waiting' && context.unmet.length === 0
        ? begin(counters, state.attempt, context)
        : stay(component);
    case 'woke':
      return state.kind === 'backing-off' && isDue(state.until, context)
        ? begin(counters, 'restart', context)
        : stay(component);
    default:
      return stay(component);
  }
}

function whenStarting(component: Component, state: In<'starting'>, event: ComponentEvent, context: Context): Step {
  const { counters } = component;
  const { run, attempt, since } = state;
  switch (event.kind) {
    case 'started': {
      if (event.run !== run) return stay(component);
      const { pid, at } = event;
      const running: ComponentState = { kind: 'running', run, pid, startedAt: at, attempt, daemonised: false };
      return step(running, { ...counters, spawnErrors: 0 }, tell('component.started', run, { pid }));
    }
    case 'spawn-failed':
      if (event.run !== run) return stay(component);
      return afterEnd(counters, { run, attempt, ...neverBegan(event.problem, context) }, context);
    case 'exited':
      if (event.run !== run) return stay(component);
      return mainEnded(component, { ...state, pid: null, startedAt: since }, event, context);
    case 'stop-requested':
      return toStopping(counters, { ...state, pid: null, startedAt: since }, 'stay-stopped', context);
    case 'restart-requested':
      return toStopping(
        event.byHand ? FRESH : counters,
        { ...state, pid: null, startedAt: since },
        'start-again',
        context,
      );
    default:
      return stay(component);
  }
}

function whenRunning(component: Component, state: In<'running'>, event: ComponentEvent, context: Context): Step {
  const { counters } = component;
  switch (event.kind) {
    case 'exited':
      return event.run === state.run ? mainEnded(component, state, event, context) : stay(component);
    case 'tree-gone': {
      if (event.run !== state.run || !state.daemonised) return stay(component);
      return afterEnd(counters, { ...state, ...unseenEnd(state, context) }, context);
    }
    case 'stop-requested':
      return toStopping(counters, withMain(state, context), 'stay-stopped', context);
    case 'restart-requested':
      return toStopping(event.byHand ? FRESH : counters, withMain(state, context), 'start-again', context);
    default:
      return stay(component);
  }
}

const UNSEEN: ExitCause = { kind: 'unknown', why: 'it had put itself in the background, so nobody saw its exit code' };

const unseenEnd = ({ startedAt }: In<'running'>, { now }: Context): Ended => ({
  cause: UNSEEN,
  at: now,
  uptimeMs: now - startedAt,
  asked: true,
});

/** A daemonised run has lost its main process already: only the rest of its tree is still to go. */
const withMain = (state: In<'running'>, context: Context): Live =>
  state.daemonised ? { ...state, ended: unseenEnd(state, context) } : state;

/** The main process of a run that nobody asked to stop is gone. What it left behind is ended before anything else begins. */
function mainEnded(component: Component, live: Live, event: Exited, context: Context): Step {
  const { counters } = component;
  const { cause, leftovers, at } = event;
  const uptimeMs = Math.max(0, at - live.startedAt);
  const ended: Ended = { cause, at, uptimeMs, asked: false };
  if (leftovers.length === 0) return afterEnd(counters, { ...live, ...ended }, context);
  if (cause.kind === 'code' && cause.code === 0 && uptimeMs < DAEMONISE_WINDOW_MS && live.pid !== null) {
    const { run, pid, startedAt, attempt } = live;
    const running: ComponentState = { kind: 'running', run, pid, startedAt, attempt, daemonised: true };
    return step(running, counters, tell('component.daemonised', run, { pids: leftovers }));
  }
  const { state, effects } = stopping({ ...live, ended }, 'decide', context);
  const told = tell('component.leftovers', live.run, { exit: describeExit(exitView(cause)), pids: leftovers });
  return step(state, counters, told, ...effects);
}
