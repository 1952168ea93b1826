/** How components are while no daemon answers: what the records say, corrected by what was seen of their runs. */
import { describeExit, type ExitCause, exitView, isClean } from '../../base/pure/exit.ts';
import type { BootId, ComponentName, MonoMs, RunId, WallMs } from '../../base/pure/ids.ts';
import { type ComponentSpec, runsInContainer } from '../spec.ts';
import type { ContainerFacts } from './container-health.ts';
import { NO_PROBES, ROLES } from './health/probe.ts';
import { newHealth } from './health/run-health.ts';
import { type Component, INITIAL } from './lifecycle/state.ts';
import { componentView, type Facts, type Instant, runOf } from './status.ts';
import { restore } from './time.ts';
import type { ComponentView, LimitView } from './views.ts';
import { DAEMON_SILENT, NO_DAEMON } from './wellbeing.ts';

/** What is to be seen of a run: of its processes, its directory, its container. */
export interface SeenRun {
  readonly run: RunId;
  readonly component: ComponentName;
  /** Null while, or because, no main process began. */
  readonly pid: number | null;
  readonly alive: boolean;
  /** Why it could not be looked at, so that `alive` says nothing; null: it was. */
  readonly unknown: string | null;
  readonly exit: ExitCause | null;
  readonly exitAt: WallMs | null;
  /** What it was bound to. */
  readonly limits: readonly LimitView[];
  /** Processes of the run that outlived its main process. */
  readonly leftovers: readonly number[];
  /** Of a container; null: it does not run. */
  readonly facts?: ContainerFacts | null;
  /** Why the Engine could not be asked about its container; null: it was. */
  readonly unreachable?: string | null;
}

/** What was written down about a component. */
export interface RecordedComponent
  extends Pick<Facts, 'component' | 'desired' | 'startedAt' | 'lastRestart' | 'lastExit'> {
  readonly name: ComponentName;
  readonly bootId: BootId;
}

export interface UnsupervisedInstant extends Instant {
  readonly bootId: BootId;
  /** There is a daemon, which does not answer. */
  readonly hasDaemon: boolean;
}

/** Components that the configuration no longer names, and of which something is left. */
export function strayNames(
  specs: readonly ComponentSpec[],
  records: readonly RecordedComponent[],
  runs: readonly SeenRun[],
): readonly ComponentName[] {
  const named = new Set(specs.map(({ name }) => name));
  const left = runs.filter(({ alive, unknown }) => alive || unknown !== null);
  const names = [...records.map(({ name }) => name), ...left.map(({ component }) => component)];
  return [...new Set(names)].filter((name) => !named.has(name));
}

export function unsupervisedView(
  spec: ComponentSpec,
  record: RecordedComponent | null,
  runs: readonly SeenRun[],
  { now, wall, bootId, hasDaemon }: UnsupervisedInstant,
): ComponentView {
  const stored = record ? restore(record.component, record.bootId, bootId, now) : INITIAL;
  const own = runOf(stored.state);
  const seen = runs.find(({ run, component }) => (own === null ? component === spec.name : run === own));
  const isOurs = spec.driver.kind !== 'external' && spec.driver.kind !== 'kubernetes';
  const container = seen?.facts ?? null;
  const { component, note, lastExit } = isOurs
    ? correct(stored, seen, { now, wall, bootId, hasDaemon }, spec.restart)
    : unwatched(stored, hasDaemon);
  const facts = {
    spec,
    component,
    desired: record?.desired ?? ('stopped' as const),
    adopted: false,
    startedAt: record?.startedAt ?? null,
    lastRestart: record?.lastRestart ?? null,
    lastExit: lastExit ?? record?.lastExit ?? null,
    unmet: Object.keys(spec.dependsOn),
    survivors: [],
    treeMechanism: null,
    shim: null,
    probes: [],
    heartbeat: null,
    sample: null,
    condition: null,
    limits: seen?.alive ? seen.limits : [],
    container,
  };
  const shown = componentView(facts, { now, wall });
  // Nobody asks its probes now, so what they said last is not known to be true.
  const isUnasked = isOurs && ROLES.every((role) => spec.probes[role] === null);
  const isDoubted = seen != null && seen.unknown !== null;
  const isKnown = isUnasked && !isDoubted && isBelieved(spec, seen, container);
  const health = isKnown ? {} : ({ health: 'unknown', ready: false } as const);
  const condition = isDoubted ? ({ condition: 'not-known' } as const) : {};
  return { ...shown, ...health, ...condition, next_attempt_at: null, note: note ?? shown.note };
}

/** Of a container only what Docker says of it right now, and only that it is well. */
function isBelieved({ driver }: ComponentSpec, seen: SeenRun | undefined, container: ContainerFacts | null): boolean {
  if (!runsInContainer(driver) || !seen) return true;
  if (seen.unreachable) return false;
  return container === null || container.health.status === 'none' || container.health.status === 'healthy';
}

/** What others started may be there or not: only a daemon looks. */
const unwatched = (stored: Component, hasDaemon: boolean): Corrected => ({
  component: stored,
  note: `not watched: ${noDaemon(hasDaemon)}`,
  lastExit: null,
});

const noDaemon = (hasDaemon: boolean): string => (hasDaemon ? DAEMON_SILENT : NO_DAEMON);

interface Corrected {
  readonly component: Component;
  readonly note: string | null;
  readonly lastExit: Facts['lastExit'];
}

/** The record says what was; the run directory and /proc say what is. */
function correct(
  stored: Component,
  seen: SeenRun | undefined,
  { now, wall, hasDaemon }: UnsupervisedInstant,
  { successCodes }: ComponentSpec['restart'],
): Corrected {
  const { state, counters } = stored;
  const nobody = noDaemon(hasDaemon);
  if (seen?.unreachable)
    return { component: stored, note: `as it was last recorded: ${seen.unreachable}; ${nobody}`, lastExit: null };
  if (seen && seen.unknown !== null)
    return {
      component: stored,
      note: `not known: its state cannot be read (${seen.unknown}); ${nobody}`,
      lastExit: null,
    };
  if (seen?.alive && seen.pid !== null) {
    const startedAt = state.kind === 'running' || state.kind === 'stopping' ? state.startedAt : now;
    const running = runningSince(seen, seen.pid, startedAt);
    return { component: { state: running, counters }, note: `alive, but ${nobody}`, lastExit: null };
  }
  if (seen && seen.leftovers.length > 0) {
    const note = `its main process is gone, but processes of it live on: ${seen.leftovers.join(', ')}; ${nobody}`;
    return { component: { state: runningSince(seen, null, now), counters }, note, lastExit: null };
  }
  const pending = state.kind === 'backing-off' || state.kind === 'waiting' || state.kind === 'gave-up';
  if (pending) return { component: stored, note: `nothing will be started: ${nobody}`, lastExit: null };
  if (runOf(state) === null) return { component: stored, note: null, lastExit: null };
  const exit = seen?.exit ? exitView(seen.exit) : null;
  const how = exit ? describeExit(exit) : 'it is gone, its exit code is not known yet';
  const crash = state.kind !== 'stopping' && seen?.exit != null && !isClean(seen.exit, successCodes);
  const lastExit = exit && { at: seen?.exitAt ?? wall, exit, crash };
  return { component: { state: { kind: 'stopped' }, counters }, note: `${how}; ${nobody}`, lastExit };
}

/** `pid` null: only processes that its main process left. */
const runningSince = ({ run }: SeenRun, pid: number | null, startedAt: MonoMs): Component['state'] => ({
  ...{ kind: 'running', run, pid, startedAt, attempt: 'first', daemonised: pid === null },
  health: newHealth(NO_PROBES, startedAt),
});
