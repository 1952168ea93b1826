/** What people and scripts are told about one component: a pure reading of its state. */

import { describeExit, type ExitView, exitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { MonoMs, RunId, WallMs } from '../../base/pure/ids.ts';
import type { ComponentSpec, DependencyCondition } from '../spec.ts';
import { type ContainerFacts, portText } from './container-health.ts';
import { FREEZE_STEP_MS, frozenNote } from './freeze/freeze.ts';
import { isReady, type RunHealth } from './health/run-health.ts';
import { wakeAt } from './lifecycle/next.ts';
import type { Component, ComponentState, In } from './lifecycle/state.ts';
import { holdOf } from './lifecycle/when-held.ts';
import { isObserved } from './restart/decide.ts';
import { roundedPercent } from './usage/stretch.ts';
import type { Sample } from './usage/usage.ts';
import type {
  ComponentView,
  Condition,
  ContainerDetailsView,
  Health,
  HeartbeatView,
  ProbeView,
  ResourcesView,
  RestartLimitView,
  ShimView,
} from './views.ts';

interface Doubted {
  readonly since: MonoMs;
  readonly why: string;
}

export interface Facts {
  readonly spec: ComponentSpec;
  readonly component: Component;
  readonly desired: 'running' | 'stopped';
  readonly adopted: boolean;
  readonly startedAt: WallMs | null;
  readonly lastRestart: { readonly at: WallMs; readonly reason: string } | null;
  readonly lastExit: { readonly at: WallMs; readonly exit: ExitView; readonly crash?: boolean } | null;
  readonly unmet: readonly string[];
  readonly survivors: readonly string[];
  readonly treeMechanism: string | null;
  /** Null: there is no daemon that would begin a run. */
  readonly shim: ShimView | null;
  readonly probes: readonly ProbeView[];
  readonly heartbeat: HeartbeatView | null;
  readonly sample: Sample | null;
  readonly limits: ComponentView['limits'];
  /** What the driver finds odd about the run right now. */
  readonly condition: Condition | null;
  /** Since when, and why, it cannot be found out how its run is; absent or null: it is known. */
  readonly doubt?: Doubted | null;
  /** The container of the run, as it was last seen; absent or null: it has none, or none was seen yet. */
  readonly container?: ContainerFacts | null;
  /** The name of its container, which somebody else has started; absent or null: nobody has. */
  readonly startedByOthers?: string | null;
}

export interface Instant {
  readonly now: MonoMs;
  readonly wall: WallMs;
}

export const isoTime = (at: WallMs): string => new Date(at).toISOString();

export function componentView(facts: Facts, instant: Instant): ComponentView {
  const { spec, component, lastRestart, lastExit } = facts;
  const { state, counters } = component;
  const live = state.kind === 'running' || state.kind === 'stopping' ? state : null;
  const ended = state.kind === 'stopping' ? state.ended : null;
  const hasMain = live !== null && ended === null && !(live.kind === 'running' && live.daemonised);
  // Its process may have ended with the Engine.
  const isBlind = facts.condition === 'engine-unreachable';
  return {
    name: spec.name,
    kind: spec.driver.kind,
    state: state.kind,
    ...knownOf(facts, instant),
    adopted: facts.adopted && runOf(state) !== null,
    run_id: runOf(state),
    pid: hasMain && !isBlind ? live.pid : null,
    container: containerName(facts),
    watched: watchedView(spec),
    started_at: live && facts.startedAt !== null ? isoTime(facts.startedAt) : null,
    uptime_ms: live && !isBlind ? Math.max(0, Math.round(ended?.uptimeMs ?? instant.now - live.startedAt)) : null,
    trial_ms: trialMs(spec, state),
    restarts: counters.total,
    restart_limit: limitOf(spec, counters, instant),
    last_restart: lastRestart && { at: isoTime(lastRestart.at), reason: lastRestart.reason },
    next_attempt_at: nextAttempt(state, instant),
    last_exit: lastExit && { ...lastExit.exit, at: isoTime(lastExit.at), crash: lastExit.crash ?? false },
    desired: facts.desired,
    waiting_for: state.kind === 'waiting' ? facts.unmet : [],
    depends_on: spec.dependsOn,
    note: withOthers(noteOn(facts, instant), facts),
    survivors: facts.survivors,
    removed: false,
    tree_mechanism: spec.driver.kind === 'process' ? facts.treeMechanism : null,
    shim: spec.driver.kind === 'process' ? facts.shim : null,
    probes: facts.probes,
    heartbeat: facts.heartbeat,
    limits: facts.limits,
    container_details: facts.container ? containerDetails(facts.container) : null,
    resources: state.kind === 'running' && facts.sample ? resourcesView(facts.sample, spec) : null,
  };
}

function limitOf(
  { driver, restart }: ComponentSpec,
  { restarts }: Facts['component']['counters'],
  { now }: Instant,
): RestartLimitView | null {
  if (restart.policy === 'never' || (driver.kind === 'external' && driver.recover === null)) return null;
  const { max, withinMs } = restart.limit;
  return { used: restarts.filter((at) => now - at < withinMs).length, max, within_ms: withinMs };
}

/** Whoever dies at once does so within this. */
const TRIAL_MS = 2_000;

/** What nobody asks how it is shows by living on that it was started well. */
function trialMs({ driver, probes, restart, minUptimeMs }: ComponentSpec, state: ComponentState): number | null {
  const isAsked = probes.startup !== null || probes.readiness !== null;
  const hasHealthCheck = state.kind === 'running' && state.health.docker !== undefined;
  if (isAsked || hasHealthCheck || driver.kind === 'external') return null;
  return restart.policy === 'always' ? Math.min(minUptimeMs, TRIAL_MS) : TRIAL_MS; // a job may be short: it is done when it completed
}

const UNKNOWN = { health: 'unknown', ready: false } as const;

/** What cannot be looked at may be gone: it is neither healthy nor ready until it was seen. */
function knownOf(
  facts: Facts,
  { now, wall }: Instant,
): Pick<ComponentView, 'condition' | 'health' | 'ready' | 'unknown_since'> {
  const { state } = facts.component;
  const doubt = doubtOf(facts);
  const unknown = doubt ?? unknownOf(state);
  return {
    condition: doubt !== null ? 'not-known' : (conditionOf(state) ?? facts.condition),
    ...(doubt !== null ? UNKNOWN : isLost(facts) ? LOST : healthOf(state)),
    unknown_since: unknown && isoTime((wall - Math.max(0, now - unknown.since)) as WallMs),
  };
}

const doubtOf = ({ doubt, component }: Facts): Doubted | null =>
  doubt != null && runOf(component.state) !== null ? doubt : null;

/** It was there and ended, and nobody but its owners can bring it back. */
const isLost = ({ spec, component: { state }, lastExit }: Facts): boolean =>
  spec.driver.kind === 'external' && state.kind === 'starting' && lastExit?.crash === true;

const LOST = { health: 'unhealthy', ready: false } as const;

function watchedView({ driver }: ComponentSpec): ComponentView['watched'] {
  if (driver.kind !== 'external') return null;
  const { target } = driver;
  if (target.kind === 'pid-file') return { kind: target.kind, target: target.path };
  if (target.kind === 'container') return { kind: target.kind, target: target.name };
  const { kind, host, port } = target;
  return { kind, target: `${host.includes(':') ? `[${host}]` : host}:${port}` };
}

/** What others run is known by its name alone. */
function containerName({ spec: { driver }, container }: Facts): string | null {
  if (driver.kind === 'external') return driver.target.kind === 'container' ? driver.target.name : null;
  return container?.name ?? null;
}

const containerDetails = ({
  id,
  image,
  isOutdated,
  health,
  ports,
  networks,
}: ContainerFacts): ContainerDetailsView => ({
  id,
  image,
  image_outdated: isOutdated,
  health: health.status,
  health_reason: health.reason === '' ? null : health.reason,
  ports: ports.map(portText),
  networks,
});

const resourcesView = (sample: Sample, { limits }: ComponentSpec): ResourcesView => ({
  cpu_percent: sample.cpuPercent === null ? null : roundedPercent(sample.cpuPercent),
  memory_bytes: Math.round(sample.memoryBytes),
  soft_memory_bytes: limits.softMemoryBytes,
  fds: sample.fds,
  threads: sample.threads,
  processes: sample.processes,
  at: isoTime(sample.at),
});

/** Why nothing is known of its health, and since when; null: something is, or it does not run. */
function unknownOf(state: ComponentState): { readonly since: MonoMs; readonly why: string } | null {
  const hold = holdOf(state);
  if (hold !== null || state.kind !== 'running' || healthOf(state).health !== 'unknown') return hold;
  return state.health.unknown ?? null;
}

/** What the probes of a run say; without any it is healthy and ready once started. Of what is held nothing is known. */
export function healthOf(state: ComponentState): { readonly health: Health; readonly ready: boolean } {
  if (holdOf(state) !== null) return { health: 'unknown', ready: false };
  switch (state.kind) {
    case 'running':
      return runHealth(state.health);
    case 'starting':
      return { health: 'starting', ready: false };
    case 'gave-up':
    case 'backing-off':
      return { health: 'unhealthy', ready: false };
    case 'stopping':
      return { health: state.unhealthy === null ? 'unknown' : 'unhealthy', ready: false };
    default:
      return { health: 'unknown', ready: false };
  }
}

function runHealth(health: RunHealth): { readonly health: Health; readonly ready: boolean } {
  const { started, alive, docker } = health;
  if (alive === false || docker === 'unhealthy') return { health: 'unhealthy', ready: false };
  if (docker === 'unknown') return { health: 'unknown', ready: false };
  // As in Kubernetes, liveness has passed until it fails: it may be asked for the first time much later.
  return { health: started && docker !== 'starting' ? 'healthy' : 'starting', ready: isReady(health) };
}

/** Is the condition that a dependent waits for true of a component in this state? Of what nothing is known, none is. */
export function conditionHolds(condition: DependencyCondition, state: ComponentState): boolean {
  switch (condition) {
    case 'started':
      return (state.kind === 'running' && holdOf(state) === null) || state.kind === 'completed';
    case 'ready':
      return healthOf(state).ready;
    case 'completed':
      return state.kind === 'completed';
    default:
      throw new Error(`no such condition: ${condition satisfies never}`);
  }
}

export const runOf = (state: ComponentState): RunId | null =>
  state.kind === 'starting' || state.kind === 'running' || state.kind === 'stopping' ? state.run : null;

function conditionOf(state: ComponentState): Condition | null {
  if (state.kind === 'stopping' && state.stage === 'unkillable') return 'unkillable';
  if ((state.kind === 'running' || state.kind === 'stopping') && state.freeze) return 'frozen';
  return state.kind === 'running' && state.daemonised ? 'daemonised' : null;
}

function nextAttempt(state: ComponentState, { now, wall }: Instant): string | null {
  if (state.kind !== 'backing-off' && state.kind !== 'gave-up') return null;
  const at = wakeAt(state);
  return at === null ? null : isoTime((wall + Math.max(0, at - now)) as WallMs);
}

/** What somebody else started is neither ours to stop nor what is asked for: it is only said. */
function withOthers(note: string | null, { spec: { name }, startedByOthers = null }: Facts): string | null {
  if (startedByOthers === null) return note;
  const told = `its container ${startedByOthers} was started by somebody else; Keepwell does not supervise it ("keepwell start ${name}" does)`;
  return note === null ? told : `${note}; ${told}`;
}

function noteOn(facts: Facts, { now, wall }: Instant): string | null {
  const { component, unmet, survivors, lastExit, spec, probes, container = null } = facts;
  const { state } = component;
  const doubt = doubtOf(facts);
  if (doubt !== null) return doubtNote(doubt, now);
  const unknown = unknownOf(state);
  if (unknown !== null)
    return `unknown for ${formatDuration(Math.max(0, Math.round(now - unknown.since)))}: ${unknown.why}`;
  const died = lastExit ? describeExit(lastExit.exit) : 'ended';
  switch (state.kind) {
    case 'waiting':
      return `waiting for ${unmet.join(', ') || 'nothing'}`;
    case 'backing-off':
      return `${died}; restart in ${formatDuration(Math.max(0, Math.round(state.until - now)))}`;
    case 'gave-up': {
      const next =
        state.retryAt === null
          ? 'no further try'
          : `next try in ${formatDuration(Math.max(0, Math.round(state.retryAt - now)))}`;
      return `gave up (${state.rule}): ${died}; ${next}`;
    }
    case 'running':
      if (state.freeze && isObserved(spec)) return `${state.freeze.reason}; it is only watched, so nothing is done`;
      if (state.freeze) return frozenNote(state.freeze, now);
      return state.daemonised ? DAEMONISED : (probeNote(probes) ?? imageNote(spec.name, container));
    case 'starting':
      if (spec.driver.kind !== 'external') return null;
      return isLost(facts) ? lostNote(facts, wall) : 'not there yet; watching for it';
    case 'stopping':
      return `${reasonToStop(state)}${stoppingNote(state.stage, spec.stop, survivors)}`;
    default:
      return null;
  }
}

const doubtNote = ({ since, why }: Doubted, now: MonoMs): string =>
  `not known for ${formatDuration(Math.max(0, Math.round(now - since)))}: its state cannot be read (${why}); asked again, nothing is done until then`;

/** "gone for 3 min: no connection to localhost:7233 (ECONNREFUSED); watching for it to come back" */
function lostNote({ spec, lastExit }: Facts, wall: WallMs): string {
  const { at, exit } = lastExit!;
  const next = isObserved(spec) ? 'watching for it to come back' : 'bringing it back';
  return `gone for ${formatDuration(Math.max(0, wall - at))}: ${exit.unknown ?? describeExit(exit)}; ${next}`;
}

const DAEMONISED =
  'put itself in the background: its processes are watched, but its exit code is unknown; run it in the foreground';

/** It runs well, and is not what it would be now. */
const imageNote = (name: string, container: ContainerFacts | null): string | null =>
  container?.isOutdated
    ? `its image ${container.image} is newer than its container: "keepwell up ${name}" uses the new one`
    : null;

/** What the probe that is in the way says; or one that could not be asked, which must not look as if all were well. */
function probeNote(probes: readonly ProbeView[]): string | null {
  const told =
    probes.find(({ role, verdict }) => role !== 'liveness' && verdict !== 'pass') ??
    probes.find(({ last }) => last?.outcome === 'inconclusive');
  if (told === undefined) return null;
  const { role, question, last } = told;
  return `${role} ${question}: ${last?.message ?? 'not asked yet'}`;
}

function reasonToStop({ ended, unhealthy }: In<'stopping'>): string {
  if (unhealthy !== null) return `${unhealthy}; `;
  return ended && !ended.asked ? `${describeExit(exitView(ended.cause))}; ending what it left behind: ` : '';
}

function stoppingNote(
  stage: In<'stopping'>['stage'],
  stop: ComponentSpec['stop'],
  survivors: readonly string[],
): string {
  const who = survivors.length > 0 ? `: ${survivors.join(', ')}` : '';
  if (stage === 'interrupted')
    return `SIGINT sent, ${stop.signal} follows within ${formatDuration(FREEZE_STEP_MS)}${who}`;
  if (stage === 'asked') return `${stop.signal} sent, up to ${formatDuration(stop.graceMs)} to end${who}`;
  if (stage === 'killed') return `ignored ${stop.signal} for ${formatDuration(stop.graceMs)}, SIGKILL sent${who}`;
  return `SIGKILL has no effect; not started again while it is there${who}`;
}
