/** A run that is up: what its probes say, how much memory it uses, and what becomes of it when its main process ends. */
import { describeExit, exitView } from '../../../base/pure/exit.ts';
import {
  afterDocker,
  afterProbesChanged,
  afterVerdict,
  isReady,
  type RunHealth,
  sameHealth,
} from '../health/run-health.ts';
import { isObserved } from '../restart/decide.ts';
import { softMemoryReason } from '../usage/soft-memory.ts';
import { type Component, type ComponentEvent, type Context, type Effect, fresh, type In, type Step } from './state.ts';
import {
  afterEnd,
  endOf,
  type Live,
  liveOf,
  stay,
  step,
  stopping,
  tell,
  toStopping,
  unseenEnd,
  withMain,
} from './transitions.ts';
import { whenAlarmed } from './when-alarmed.ts';
import { seen } from './when-held.ts';

type Exited = Extract<ComponentEvent, { kind: 'exited' }>;
type Probed = Extract<ComponentEvent, { kind: 'probed' }>;
type DockerSaid = Extract<ComponentEvent, { kind: 'docker-health' }>;
type OverSoftMemory = Extract<ComponentEvent, { kind: 'over-soft-memory' }>;

/** A command that exits 0 this soon and leaves processes behind has put itself in the background. */
export const DAEMONISE_WINDOW_MS = 10_000;

export function whenRunning(component: Component, state: In<'running'>, event: ComponentEvent, context: Context): Step {
  const { counters } = component;
  switch (event.kind) {
    case 'exited':
      return event.run === state.run ? mainEnded(component, endingOf(state), event, context) : stay(component);
    case 'tree-gone': {
      if (event.run !== state.run || !state.daemonised) return stay(component);
      const { run, attempt } = state;
      return afterEnd(counters, { run, attempt, ...unseenEnd(state, context) }, context);
    }
    case 'probed':
      return event.run === state.run ? whenProbed(component, state, event, context) : stay(component);
    case 'docker-health':
      return event.run === state.run ? whenDockerSays(component, state, event, context) : stay(component);
    case 'over-soft-memory':
      return event.run === state.run ? whenOverSoftMemory(component, state, event, context) : stay(component);
    case 'started': {
      if (event.run !== state.run) return stay(component);
      const running = seen(state);
      return whenAlarmed(running === state ? component : { ...component, state: running }, running, event, context);
    }
    case 'silent':
    case 'still-silent':
    case 'examined':
    case 'beat':
      return event.run === state.run ? whenAlarmed(component, state, event, context) : stay(component);
    case 'probes-changed':
      return whenRespecified(component, state, context);
    case 'stop-requested':
      return toStopping(counters, withMain(state, context), 'stay-stopped', context);
    case 'restart-requested':
      return toStopping(event.byHand ? fresh(counters) : counters, withMain(state, context), 'start-again', context);
    default:
      return stay(component);
  }
}

/** A frozen process that was sent the dump signal may well die of it: that is no end of its own. */
const endingOf = (state: In<'running'>): Live =>
  state.freeze?.dumped ? { ...liveOf(state), unhealthy: state.freeze.reason } : liveOf(state);

/** Another configuration begins with a clean slate: whatever is still wrong will be found out by it. */
function whenRespecified(component: Component, { freeze, ...state }: In<'running'>, context: Context): Step {
  const health = afterProbesChanged(state.health, context.policy.probes, context.now);
  if (!freeze) return withHealth(component, state, health);
  const thawed = tell('component.thawed', state.run, { reason: 'its configuration changed' });
  const told = healthTold(state, health);
  return step({ ...state, health }, component.counters, thawed, ...told);
}

/** A failed startup or liveness ends the run, and then the policy decides as after a crash. What is only observed is left alone. */
function whenProbed(component: Component, state: In<'running'>, event: Probed, context: Context): Step {
  const { role, pass, reason } = event;
  const { policy, now } = context;
  const health = afterVerdict(state.health, role, pass, policy.probes, now);
  const isFatal = !pass && role !== 'readiness';
  if (!isFatal || isObserved(policy)) return withHealth(component, state, health, reason);
  const unhealthy = `${role} ${reason}`;
  return endFor(component, state, unhealthy, tell('component.unhealthy', state.run, { reason: unhealthy }), context);
}

/** Docker has asked as often as its health check demands: its first "unhealthy" is a failed liveness. */
function whenDockerSays(component: Component, state: In<'running'>, event: DockerSaid, context: Context): Step {
  const { status, reason } = event.verdict;
  if (status === 'unhealthy' && !isObserved(context.policy))
    return endFor(component, state, reason, tell('component.unhealthy', state.run, { reason }), context);
  return withHealth(component, state, afterDocker(state.health, event.verdict, context.now), reason);
}

/**
 * Asked to end like after a failed liveness, and then the policy decides. A peak while it starts is its own business; and where
 * the policy would never start it again there is nothing to be gained by ending it, so it is only told.
 */
function whenOverSoftMemory(component: Component, state: In<'running'>, event: OverSoftMemory, context: Context): Step {
  const { usedBytes: used_bytes, limitBytes: limit_bytes, samples } = event;
  if (!state.health.started || isObserved(context.policy)) return stay(component);
  const reason = softMemoryReason(used_bytes, limit_bytes, samples);
  const restarts = context.policy.restart.policy !== 'never';
  const told = tell('component.over-soft-memory', state.run, { reason, used_bytes, limit_bytes, restarts });
  return restarts ? endFor(component, state, reason, told, context) : { component, effects: [told] };
}

/** Ends a run that nobody asked to stop, for a reason of our own. */
function endFor(component: Component, state: In<'running'>, unhealthy: string, told: Effect, context: Context): Step {
  const live = withMain(state, context);
  const ended = live.ended ? { ...live.ended, unhealthy } : null;
  const { state: stops, effects } = stopping({ ...live, ended, unhealthy }, 'decide', context);
  return step(stops, component.counters, told, ...effects);
}

function withHealth(component: Component, state: In<'running'>, health: RunHealth, reason?: string): Step {
  if (sameHealth(state.health, health)) return stay(component);
  return step({ ...state, health }, component.counters, ...healthTold(state, health, reason));
}

/** What is worth telling about a change of health. While it is held it is ready for nobody, so that does not change. */
function healthTold({ run, health: before, hold }: In<'running'>, after: RunHealth, reason = ''): readonly Effect[] {
  const why = reason === '' ? {} : { reason };
  const [wasReady, willBeReady] = hold ? [false, false] : [isReady(before), isReady(after)];
  const wasHealthy = before.healthySince !== null;
  const isHealthy = after.healthySince !== null;
  return [
    ...(isHealthy && !wasHealthy ? [tell('component.healthy', run, why)] : []),
    ...(wasHealthy && !isHealthy ? [tell('component.unhealthy', run, why)] : []),
    ...(willBeReady && !wasReady ? [tell('component.ready', run, why)] : []),
    ...(wasReady && !willBeReady ? [tell('component.not-ready', run, why)] : []),
  ];
}

/** The main process of a run that nobody asked to stop is gone. What it left behind is ended before anything else begins. */
export function mainEnded(component: Component, live: Live, event: Exited, context: Context): Step {
  const { counters } = component;
  const { cause, leftovers, at } = event;
  const ended = endOf(live, cause, at, false);
  const { run, attempt } = live;
  if (leftovers.length === 0) return afterEnd(counters, { run, attempt, ...ended }, context);
  const isOff = cause.kind === 'code' && cause.code === 0 && ended.uptimeMs < DAEMONISE_WINDOW_MS;
  if (isOff && component.state.kind === 'running')
    return step(
      { ...component.state, daemonised: true },
      counters,
      tell('component.daemonised', run, { pids: leftovers }),
    );
  const { state, effects } = stopping({ ...live, ended }, 'decide', context);
  const told = tell('component.leftovers', live.run, { exit: describeExit(exitView(cause)), pids: leftovers });
  return step(state, counters, told, ...effects);
}
