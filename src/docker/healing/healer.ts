/** Looks after containers one by one: restarts what is unhealthy or dead, within its budget, and tells. Never blocks who asks for it. */

import { type Clock, systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { after, type MonoMs, type WallMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { type HealthVerdict, isLeaving } from '../../supervision/rules/container-health.ts';
import type { ContainerListener, ContainerObservation, ContainerWatch } from '../container-watch.ts';
import { createEngine } from '../engine.ts';
import type { ActionResult, ContainerSetup, ContainerState, EngineClient } from '../ports.ts';
import { endedWithEngine, exitOf } from '../rules/exit.ts';
import { judgeHealth } from '../rules/judge.ts';
import { createContainerWatch } from '../watch/watch.ts';
import type { HealCallbacks, Healer, Healing, HealStatus } from './ports.ts';
import { healthOf, next, summaryOf, wakeAt } from './rules/next.ts';
import {
  type HealEffect,
  type HealingEvent,
  type HealingObservation,
  type HealingState,
  type HealPolicy,
  NEW_HEALING_STATE,
  type RestartResult,
} from './rules/state.ts';

/** Many restarts at once must not flood the Engine. */
const RESTARTS_AT_ONCE = 4;
/** Then it only waits for a container that takes its whole grace to end: that costs nothing, and must not hold up the others. */
const BEGUN_AFTER_MS = 1_000;

export function createHealer(parts: Omit<HealingParts, 'slots'>): Healer {
  const slots = createSlots({ atOnce: RESTARTS_AT_ONCE, holdMs: BEGUN_AFTER_MS, clock: parts.clock });
  const all = new Map<string, Healing>();
  return {
    begin: (container, policy, callbacks) => {
      if (all.has(container)) throw new Error(`the container ${container} is looked after already`);
      const order = { container, policy, callbacks };
      const healing = beginHealing({ ...parts, slots }, order, () => all.delete(container));
      all.set(container, healing);
      return healing;
    },
    close: async () => {
      for (const healing of [...all.values()]) healing[Symbol.dispose]();
      await slots.idle();
    },
  };
}

// Everything that looks after containers without a daemon around it: one client, one watch and one healer for a process.

export interface CareOptions {
  /** Says where the Engine is: DOCKER_HOST and its like. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** How often all that is watched is compared with the Engine's list, beside its events. */
  readonly reconcileMs: number;
}

export interface ContainerCare extends Pick<Runtime, 'clock' | 'random'> {
  readonly engine: EngineClient;
  readonly watch: ContainerWatch;
  readonly healer: Healer;
  /** Lets go of everything; no container is touched. */
  close(): Promise<void>;
}

export function openContainerCare({ env, log, reconcileMs }: CareOptions): ContainerCare {
  const clock = systemClock;
  const random = Math.random;
  const engine = createEngine({ env, clock });
  const watch = createContainerWatch({ engine, clock, log, random, reconcileMs });
  const healer = createHealer({ engine, watch, clock, random, log });
  return {
    engine,
    watch,
    healer,
    clock,
    random,
    close: async () => {
      await healer.close();
      await watch.close();
    },
  };
}

// One container that is looked after: its mailbox, its alarm, and what its state asks for.

interface HealingParts extends Pick<Runtime, 'clock' | 'log' | 'random'> {
  readonly engine: EngineClient;
  readonly watch: ContainerWatch;
  readonly slots: Slots;
}

interface HealingOrder {
  readonly container: string;
  readonly policy: HealPolicy;
  readonly callbacks: HealCallbacks;
}

function beginHealing(parts: HealingParts, order: HealingOrder, ended: () => void): Healing {
  const { engine, watch, clock, log, slots } = parts;
  const { container, policy, callbacks } = order;
  let healing: HealingState = NEW_HEALING_STATE;
  let mailbox: HealingEvent[] = [];
  let isOver = false;
  const over = new AbortController();
  let isAsking = false;
  let alarm: { readonly at: MonoMs; readonly off: AbortController } | null = null;

  const status = (): HealStatus => {
    const due = wakeAt(healing);
    return {
      container,
      id: healing.observation?.id ?? null,
      state: healing.state.kind,
      health: healthOf(healing),
      restarts: healing.counters.total,
      nextAttemptAt: due === null ? null : Math.round(clock.wallNow() + (due - clock.now())),
      reason: healing.reason,
      engineAway: healing.away,
    };
  };

  /** Nothing of ours is on the stack when somebody else's code is called. */
  const send = (event: HealingEvent): void => {
    if (isOver) return;
    mailbox.push(event);
    if (mailbox.length === 1) queueMicrotask(serve);
  };

  const serve = (): void => {
    const events = mailbox;
    mailbox = [];
    for (const event of events) if (!isOver) step(event);
  };

  const step = (event: HealingEvent): void => {
    const before = summaryOf(healing);
    const { healing: after, effects } = next(healing, event, { now: clock.now(), random: parts.random(), policy });
    healing = after;
    setAlarm();
    if (summaryOf(healing) !== before) call(() => callbacks.changed?.(status()));
    for (const effect of effects) if (!isOver) perform(effect);
  };

  const setAlarm = (): void => {
    const at = wakeAt(healing);
    if (at === (alarm?.at ?? null)) return;
    alarm?.off.abort();
    alarm = at === null ? null : { at, off: new AbortController() };
    if (!alarm) return;
    const { off } = alarm;
    clock.sleepUntil(alarm.at, off.signal).then(
      () => {
        alarm = null;
        send({ kind: 'woke' });
      },
      () => {}, // called off
    );
  };

  const perform = (effect: HealEffect): void => {
    if (effect.kind === 'restart') {
      slots.run(() => doRestart(effect));
      return;
    }
    if (effect.kind === 'remove') {
      slots.run(() => doRemove(effect));
      return;
    }
    const { what, why } = effect;
    if (what === 'restarted') log.info(`restarted the container ${container}`, { why });
    else log.warn(`the container ${container} ${WORDS[what]}`, { why, decision: healing.reason });
    if (effect.what === 'failed') call(() => callbacks.failed?.(status(), why, effect.failure));
    if (what === 'restarted') call(() => callbacks.restarted?.(status()));
    if (what === 'gave-up') call(() => callbacks.gaveUp?.(status()));
    if (what === 'gone') call(() => callbacks.gone?.(status()));
  };

  /** Once begun it is brought to its end, also when nobody cares any more: a container must not be left half-way. */
  const doRestart = async ({ id, startedAt }: Extract<HealEffect, { kind: 'restart' }>): Promise<void> => {
    if (isOver) return;
    const never = new AbortController().signal;
    try {
      const outcome = await restart({ engine, clock }, { id, startedAt, graceMs: policy.graceMs }, never);
      send(outcome);
      if (outcome.kind === 'tried' && outcome.observation === null && !isOver) watch.hurry(container);
    } catch (error) {
      log.error(`restarting the container ${container} failed in an unforeseen way`, { error: String(error) });
      send({ kind: 'tried', trial: { kind: 'not-its-fault', why: String(error) }, observation: null });
    }
  };

  /** Looks first: what somebody has started since, or what has recovered, stays. */
  const doRemove = async ({ id, startedAt }: Extract<HealEffect, { kind: 'remove' }>): Promise<void> => {
    if (isOver) return;
    const never = new AbortController().signal;
    try {
      const found = await engine.inspect(id, never);
      if (found.kind === 'unreachable') return send({ kind: 'not-removed', why: found.why });
      const observation = observationOf(found, clock.wallNow());
      if (observation === null) return send({ kind: 'missing' });
      const isWell = observation.phase === 'running' && observation.health.status === 'healthy';
      if (observation.startedAt !== startedAt || observation.phase === 'paused' || isWell)
        return send({ kind: 'seen', observation, engineWasAway: false });
      const action = await engine.remove(id, never);
      if (action.kind !== 'done' && action.kind !== 'missing') return send({ kind: 'not-removed', why: action.why });
      log.info(`removed the container ${container}`, { why: healing.reason });
      send({ kind: 'missing' });
    } catch (error) {
      log.error(`removing the container ${container} failed in an unforeseen way`, { error: String(error) });
      send({ kind: 'not-removed', why: String(error) });
    }
  };

  /** Somebody else's code: what it throws, also later, is not our end nor that of the process. */
  const call = (callback: () => unknown): void => {
    if (isOver) return;
    const threw = (error: unknown) =>
      log.error(`a listener of the container ${container} threw`, { error: String(error) });
    try {
      Promise.resolve(callback()).catch(threw);
    } catch (error) {
      threw(error);
    }
  };

  /** It had ended before anybody of ours looked at it, so nobody saw whether the Engine had. Never rejects. */
  const judgeFirst = async (observation: HealingObservation, state: ContainerState): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    const networks = await engine.networks([], over.signal).catch(() => null); // nobody cares any more
    isAsking = false;
    const isByEngine = networks?.kind === 'listed' && endedWithEngine(state, networks.items);
    if (healing.seenAt !== null) return; // somebody has started it meanwhile
    send({ kind: 'seen', observation, engineWasAway: isByEngine });
  };

  const listener: ContainerListener = {
    seen: (seen) => {
      const observation = observationOf(seen, clock.wallNow());
      if (observation === null || seen.kind === 'missing') return send({ kind: 'missing' });
      if (observation.phase === 'ended' && healing.seenAt === null) return void judgeFirst(observation, seen.state);
      send({ kind: 'seen', observation, engineWasAway: healing.seenAt !== null && watch.wasAway(healing.seenAt) });
    },
    blind: (why) => send({ kind: 'away', why }),
  };
  const watched = watch.watch(container, listener);

  return {
    get status() {
      return status();
    },
    [Symbol.dispose]: () => {
      if (isOver) return;
      isOver = true;
      over.abort();
      alarm?.off.abort();
      watched[Symbol.dispose]();
      ended();
    },
  };
}

const WORDS = { failed: 'failed', 'gave-up': 'was given up', gone: 'is gone' } as const;

// Only so many begin at once, in the order in which they asked.

interface Slots {
  /** Runs `task` when its turn comes. It must not reject. */
  run(task: () => Promise<void>): void;
  /** Resolves when nothing runs. Those that still wait begin first: they look by themselves whether they are wanted. */
  idle(): Promise<void>;
}

interface SlotsOptions {
  /** How many tasks hold a slot at a time. */
  readonly atOnce: number;
  /** A task gives its slot back when it ends, and after this long at the latest: then it only waits for others. */
  readonly holdMs: number;
  readonly clock: Clock;
}

function createSlots({ atOnce, holdMs, clock }: SlotsOptions): Slots {
  const waiting: (() => Promise<void>)[] = [];
  const running = new Set<Promise<void>>();
  let held = 0;
  const begin = (task: () => Promise<void>): void => {
    const ended = new AbortController();
    held += 1;
    const release = () => {
      held -= 1;
      fill();
    };
    clock.sleepUntil(after(clock.now(), holdMs), ended.signal).then(release, release); // aborted: it has ended
    const run = task().finally(() => {
      running.delete(run);
      ended.abort();
    });
    running.add(run);
  };
  const fill = (): void => {
    while (held < atOnce) {
      const task = waiting.shift();
      if (!task) return;
      begin(task);
    }
  };
  return {
    run: (task) => {
      waiting.push(task);
      fill();
    },
    idle: async () => {
      while (running.size > 0 || waiting.length > 0) {
        await Promise.all(running);
        await Promise.resolve(); // the slots are given back
      }
    },
  };
}

// Restarts one container: looks before and after, so that nothing is restarted that has changed meanwhile.

interface RestartOrder {
  readonly id: string;
  readonly startedAt: string;
  readonly graceMs: number;
}

async function restart(
  { engine, clock }: { readonly engine: EngineClient; readonly clock: Clock },
  { id, startedAt, graceMs }: RestartOrder,
  signal: AbortSignal,
): Promise<HealingEvent> {
  const before = await engine.inspect(id, signal);
  if (before.kind === 'unreachable') return tried({ kind: 'not-its-fault', why: before.why }, null);
  const found = observationOf(before, clock.wallNow());
  if (found === null) return { kind: 'missing' };
  const isWell = found.phase === 'running' && found.health.status === 'healthy';
  if (found.startedAt !== startedAt || found.phase === 'paused' || isWell)
    return { kind: 'called-off', observation: found };
  const action = await engine.restart(id, graceMs, signal);
  // Also after a deadline: the Engine goes on by itself, and may well have done it.
  const after = await engine.inspect(id, signal);
  if (after.kind === 'unreachable') return tried(trialOf(action), null);
  const observation = observationOf(after, clock.wallNow());
  return observation === null ? { kind: 'missing' } : tried(trialOf(action), observation);
}

const tried = (
  trial: RestartResult,
  observation: Extract<HealingEvent, { kind: 'tried' }>['observation'],
): HealingEvent => ({
  kind: 'tried',
  trial,
  observation,
});

function trialOf(action: ActionResult): RestartResult {
  switch (action.kind) {
    case 'done':
      return { kind: 'done' };
    case 'refused':
      return { kind: 'refused', why: action.why };
    case 'missing':
      return { kind: 'not-its-fault', why: 'the Engine said that there is no such container' };
    default:
      return { kind: 'not-its-fault', why: action.why };
  }
}

// What an inspection says, in the words in which it is decided.

/** Every container of a Swarm task carries it. */
const SWARM_LABEL = 'com.docker.swarm.task.id';

/** Null: there is none, or what is left of it cannot be started any more. */
function observationOf(seen: ContainerObservation, now: WallMs): HealingObservation | null {
  if (seen.kind === 'missing') return null;
  const { state, setup } = seen;
  if (isLeaving(state.status)) return null;
  const phase = phaseOf(state);
  const swarm = SWARM_LABEL in setup.labels ? 'Docker Swarm replaces it' : null;
  const { name } = setup.restartPolicy;
  const policy = name === 'no' ? null : `its restart policy in Docker is ${name}`;
  return {
    id: state.id,
    startedAt: state.startedAt,
    phase,
    health: healthAsSeen(state, setup, now),
    cause: phase === 'ended' ? exitOf(`the container ${setup.name}`, state) : null,
    uptimeMs: uptimeMs(state, now),
    crashesBelongTo: swarm ?? policy,
    healthBelongsTo: swarm,
  };
}

function phaseOf({ status, paused, restarting, running }: ContainerState): HealingObservation['phase'] {
  if (paused) return 'paused';
  if (restarting || status === 'created') return 'unsettled';
  return running ? 'running' : 'ended';
}

function healthAsSeen(state: ContainerState, setup: ContainerSetup, now: WallMs): HealthVerdict {
  if (state.status === 'created') return { status: 'unknown', reason: 'it was made, and not started yet' };
  return judgeHealth(state, setup.healthCheck, now);
}

function uptimeMs({ startedAt, finishedAt }: ContainerState, now: WallMs): number {
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  const ms = end - Date.parse(startedAt);
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
