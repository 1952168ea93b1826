/** A run that is up: what its probes say, how much memory it uses, and what becomes of it when its main process ends. */
import { describeExit, exitView } from '../../../base/pure/exit.ts';
import { after, type MonoMs } from '../../../base/pure/ids.ts';
import { afterLook, FREEZE_STEP_MS, type Freeze, lastChance, mayGoOn, newFreeze, withStep } from '../freeze/freeze.ts';
import { describeSource } from '../freeze/heartbeat.ts';
import {
  afterDocker,
  afterProbesChanged,
  afterVerdict,
  isReady,
  type RunHealth,
  sameHealth,
} from '../health/run-health.ts';
import { isObserved } from '../restart/decide.ts';
import { softMemoryReason } from '../usage/usage.ts';
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

// A run whose heartbeat is overdue: noted, looked at, given its time once more when it is busy, and ended step by step.

type AlarmEvent = Extract<ComponentEvent, { kind: 'started' | 'silent' | 'still-silent' | 'examined' | 'beat' }>;

export function whenAlarmed(component: Component, state: In<'running'>, event: AlarmEvent, context: Context): Step {
  const { freeze } = state;
  switch (event.kind) {
    case 'silent':
      return freeze ? stay(component) : notice(component, state, event, context);
    case 'started': // adopted: the daemon that noticed it may have ended before it had looked
      return freeze?.evidence === null ? { component, effects: [examine(state, context)] } : stay(component);
    case 'beat':
      return freeze ? thaw(component, state, freeze, context) : stay(component);
    case 'examined':
      return freeze ? learn(component, state, freeze, event, context) : stay(component);
    case 'still-silent':
      return freeze && mayGoOn(freeze, context.now) ? goOn(component, state, freeze, context) : stay(component);
    default:
      throw new Error(`no such event: ${JSON.stringify(event satisfies never)}`);
  }
}

function notice(
  component: Component,
  state: In<'running'>,
  { since, note }: Extract<AlarmEvent, { kind: 'silent' }>,
  context: Context,
): Step {
  const { heartbeat } = context.policy;
  if (!heartbeat || !state.health.started) return stay(component);
  const freeze = newFreeze(heartbeat, since, note, context.now);
  const { reason } = freeze;
  const silent_ms = Math.round(context.now - since);
  const told = tell('component.frozen', state.run, { reason, silent_ms, source: describeSource(heartbeat.source) });
  return step({ ...state, freeze }, component.counters, told, examine(state, context));
}

const examine = ({ run }: In<'running'>, { policy }: Context): Effect => ({
  ...{ kind: 'examine', run },
  dump: policy.heartbeat?.dumpSignal ?? null,
});

function thaw({ counters }: Component, state: In<'running'>, freeze: Freeze, { now }: Context): Step {
  const { freeze: _, ...thawed } = state;
  const silent_ms = Math.round(now - freeze.silentSince);
  return step(thawed, counters, tell('component.thawed', state.run, { reason: 'it beats again', silent_ms }));
}

function learn(
  component: Component,
  state: In<'running'>,
  freeze: Freeze,
  { busy, stopped, evidence }: Extract<AlarmEvent, { kind: 'examined' }>,
  { policy, now }: Context,
): Step {
  if (!policy.heartbeat) return stay(component);
  const known = afterLook(freeze, { busy, stopped, evidence }, policy.heartbeat, now);
  const isPostponed = known.stage !== freeze.stage;
  const told = tell('component.examined', state.run, {
    ...{ busy, stopped, lines: evidence.length },
    postponed_ms: isPostponed ? policy.heartbeat.freezeAfterMs : null,
  });
  return step({ ...state, freeze: known }, component.counters, told);
}

/** What is only observed stays as it is: frozen, until it is heard again. */
function goOn(component: Component, state: In<'running'>, freeze: Freeze, context: Context): Step {
  const { policy, now } = context;
  if (isObserved(policy)) return stay(component);
  if (freeze.stage === 'postponed')
    return step({ ...state, freeze: lastChance(freeze, now) }, component.counters, examine(state, context));
  const isOurs = policy.driver.kind !== 'external';
  const signal = isOurs ? INTERRUPT : policy.stop.signal;
  const text = isOurs ? `${signal} sent` : 'its recovery command is next';
  const live = frozenLive(state, withStep(freeze, text, now), context);
  const { state: stops, effects } = stopping(live, 'decide', context);
  const told = tell('component.stopping', state.run, { signal, reason: freeze.reason });
  if (!isOurs) return step(stops, component.counters, told, ...effects);
  const interrupted = { ...stops, stage: 'interrupted', until: after(now, FREEZE_STEP_MS) } as const;
  return step(interrupted, component.counters, told, { kind: 'signal', run: state.run, signal });
}

/** Not the stop signal at once: many programs answer SIGINT with a stack, and some only listen to this one while they wait. */
const INTERRUPT = 'SIGINT';

/** The time it was silent was no healthy time, whatever its probes said: it forgives no earlier failure. */
function frozenLive(state: In<'running'>, freeze: Freeze, context: Context): Live {
  const { healthySince } = state.health;
  const silentMs = Math.max(0, context.now - freeze.silentSince);
  const live = withMain({ ...state, freeze }, context);
  return {
    ...live,
    unhealthy: freeze.reason,
    healthySince: healthySince === null ? null : (Math.min(context.now, healthySince + silentMs) as MonoMs),
    ...(live.ended ? { ended: { ...live.ended, unhealthy: freeze.reason } } : {}),
  };
}
