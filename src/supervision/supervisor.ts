/** Keeps the set of components as the configuration and people want it: start and stop order, desired state, adoption. */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/pure/errors.ts';
import type { ComponentName, MonoMs } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import { adoptAll } from './adoption.ts';
import type { Past } from './component-memory.ts';
import { ComponentRunner, type RunnerWorld } from './component-runner.ts';
import { ComponentSet } from './component-set.ts';
import { type ComponentSnapshot, snapshotOf } from './component-snapshot.ts';
import { EventQueue } from './event-queue.ts';
import { Beats } from './heartbeat/beats.ts';
import { Journal } from './journal.ts';
import type { FoundRun } from './ports/driver.ts';
import type { Sampler } from './ports/sampler.ts';
import type {
  ComponentCommit,
  ComponentRecord,
  ComponentStore,
  Desired,
  Evidence,
  SampleQuery,
} from './ports/store.ts';
import type { ProbeStretch } from './rules/health/stretch.ts';
import { type Component, type ComponentState, INITIAL, isUnasked } from './rules/lifecycle/state.ts';
import { type AppliedView, appliedView, hasGivenUp, planChanges } from './rules/plan.ts';
import { runOf } from './rules/status.ts';
import { restore } from './rules/time.ts';
import { type SampleStretch, samplesLaidOver } from './rules/usage/stretch.ts';
import type { ComponentView } from './rules/views.ts';
import type { ComponentSpec } from './spec.ts';
import { type Death, explained } from './step-commit.ts';
import { isActive, StopOrder } from './stop-order.ts';
import { UsageWatch } from './usage/usage-watch.ts';

// Faults of the machine that keep components from being started, from the first to the first start that succeeds again.

/** A single failure says little: what is over within this needs no announcement, its next try comes as soon. */
const WORTH_TELLING_MS = 1_000;

export class MachineFaults {
  #since: MonoMs | null = null;

  /** One component went from one state to the other. Returns since when there was a fault that is over with this; null: none is. */
  noted(before: ComponentState, state: ComponentState, now: MonoMs): MonoMs | null {
    if (state.kind === 'backing-off' && state.machine) this.#since ??= now;
    const since = this.#since;
    const isStarted = before.kind === 'starting' && state.kind === 'running';
    if (since === null || !isStarted || now - since < WORTH_TELLING_MS) return null;
    this.#since = null;
    return since;
  }
}

/** Those who wait for something to become true of the components. */
export class Changes {
  readonly #watchers = new Set<() => void>();

  /** Something changed: everybody looks again. */
  tell(): void {
    for (const watch of [...this.#watchers]) watch();
  }

  /** Resolves once `fact` is true; looked at after every change. */
  async until(fact: () => boolean): Promise<void> {
    if (fact()) return;
    await new Promise<void>((resolve) => {
      const watch = () => {
        if (!fact()) return;
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
    });
  }
}

type FromRunner =
  | 'driver'
  | 'prober'
  | 'stalls'
  | 'heartbeatSources'
  | 'examine'
  | 'launch'
  | 'specHash'
  | 'ingredients'
  | 'logEnd';

export interface SupervisorParts extends Runtime, Pick<RunnerWorld, FromRunner> {
  readonly store: ComponentStore;
  readonly sampler: Sampler;
  evidence(spec: ComponentSpec, death: Death, all: readonly ComponentSpec[]): Evidence;
  /** Just enough of a specification to end a run of a component that the configuration no longer names. */
  straySpec(name: ComponentName): ComponentSpec;
  /** A step failed half-way: this process must end, components go on, the next daemon finds the truth on disk. */
  fatal(error: unknown): void;
  /** Writes all of them together, each crash with its incident, and tells whoever listens. Never throws: a full disk is waited for. */
  record(...commits: readonly ComponentCommit[]): unknown;
}

const ENDED_OR_ENDING: ReadonlySet<string> = new Set(['stopped', 'completed', 'gave-up', 'stopping']);

/** It was to be stopped, and the last daemon died before it was: that was answered for, so it is done now. */
const isUnwanted = ({ desired, component }: ComponentRunner): boolean =>
  desired === 'stopped' && !ENDED_OR_ENDING.has(component.state.kind);

export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #world: RunnerWorld;
  readonly #set = new ComponentSet();
  readonly #stops: StopOrder;
  readonly #changes = new Changes();
  readonly #faults = new MachineFaults();
  readonly #probed: Journal<ProbeStretch>;
  readonly #usage: UsageWatch;
  readonly #beats: Beats;
  #closing = false;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    const { clock, random, sampler } = parts;
    this.#probed = probeJournal(clock, (probed) => this.#commit({ probed, syncLater: true }));
    this.#usage = new UsageWatch({
      ...{ clock, random, sampler },
      tell: (component, event) => this.#set.get(component)?.send(event),
      write: (sampled) => this.#commit({ sampled, syncLater: true }),
    });
    this.#beats = new Beats({ clock, set: this.#set, commit: (...commits) => this.#commit(...commits) });
    const eventQueue = new EventQueue(clock, parts.fatal);
    this.#stops = new StopOrder({
      find: (name) => this.#set.get(name),
      graph: () => this.#set.graph(),
      post: (task) => eventQueue.post(task),
      released: () => this.#lookAgain(),
    });
    this.#world = {
      ...parts,
      eventQueue,
      commit: (commit) => this.#commit(commit),
      unmet: (spec) => [...new Set([...this.#set.unmet(spec), ...this.#stops.holders(spec.name)])],
      evidence: (spec, death) => parts.evidence(spec, death, this.#set.specs()),
      dependencyStates: (spec) => this.#set.dependencyStates(spec),
      changed: (runner, before) => this.#changed(runner, before),
      probed: (stretch) => this.#probed.note(stretch),
      usage: this.#usage,
      beaten: this.#beats.noted,
      logFrom: (spec, run) => parts.store.run(run)?.logOffset ?? parts.logEnd(spec),
    };
  }

  /** Brings back what earlier daemons left: records, live runs, exits nobody saw. Starts what is wanted. */
  open(specs: readonly ComponentSpec[], wish: (name: ComponentName) => WantedState): void {
    const { store, clock, driver, log, failpoints, specHash } = this.#parts;
    const records = new Map(store.components().map((record) => [record.name, record]));
    const past = ({ name }: ComponentSpec) => pastOf(records.get(name), clock, wish(name));
    const runners = specs.map((spec) => new ComponentRunner(spec, this.#world, past(spec)));
    this.#set.setCurrent(runners);
    for (const record of records.values()) if (!this.#set.get(record.name)) this.#explainStray(record);
    failpoints.hit('daemon.before-adopt');
    const runnerFor = (found: FoundRun) => this.#set.get(found.component) ?? this.#stray(found);
    adoptAll(runners, { driver, history: store, clock, log, runnerFor, commit: (commit) => this.#commit(commit) });
    failpoints.hit('daemon.adopted');
    driver.tidy(this.#set.isContainer, this.#set.isCompose);
    for (const { name } of records.values()) if (!this.#set.get(name)) store.forget(name);
    this.#stops.add(
      [...this.#set.leaving, ...runners.filter(isUnwanted)].map(({ name }) => name),
      'stop',
    );
    for (const runner of this.#set.inStartOrder()) {
      const stored = records.get(runner.name)?.specHash;
      if (stored !== undefined && stored !== specHash(runner.spec)) runner.restart(CHANGED);
      if (runner.desired === 'running') runner.send({ kind: 'start-requested', fresh: false });
    }
  }

  /** What `apply` would do, and with `startAdded` the `up` of what is new after it. Changes nothing. */
  plan(specs: readonly ComponentSpec[], startAdded: boolean): AppliedView {
    this.#refuseWhenClosing();
    const { specHash, ingredients } = this.#parts;
    const current = this.#set.current.map(({ spec, desired, component }) => ({
      ...{ spec, desired, state: component.state.kind },
    }));
    return appliedView(planChanges(current, specs, { specHash, ingredients, startAdded }));
  }

  /** Makes the running set follow the configuration, as planned: touches only what changed. */
  apply(specs: readonly ComponentSpec[], startAdded = false): AppliedView {
    const { specHash } = this.#parts;
    const applied = this.plan(specs, startAdded);
    const changed = new Set(applied.changed);
    const restarts = new Set(applied.restarted);
    const started = new Set(applied.steps.filter(({ starts }) => starts).map(({ component }) => component));
    const runners = specs.map((spec) => {
      // One that is just leaving is taken back: there is never a second runner for one name.
      const leaving = this.#set.isCurrent(spec.name) ? undefined : this.#set.get(spec.name);
      if (leaving && specHash(leaving.spec) !== specHash(spec)) restarts.add(spec.name);
      const runner = this.#set.get(spec.name) ?? new ComponentRunner(spec, this.#world, NEW);
      if (leaving || changed.has(spec.name)) runner.respec(spec);
      return runner;
    });
    const removed = this.#set.current.filter((runner) => !runners.includes(runner));
    this.#set.setCurrent(runners);
    this.#want('stopped', removed);
    for (const runner of removed) {
      if (runner.component.state.kind === 'stopped') this.#forget(runner);
      else this.#set.addLeaving(runner);
    }
    this.#stops.add(
      this.#set.leaving.map(({ name }) => name),
      'stop',
    );
    for (const runner of runners) {
      if (restarts.has(runner.name)) runner.restart(CHANGED);
      const { state } = runner.component;
      if (started.has(runner.name) && hasGivenUp({ state: state.kind, desired: runner.desired }))
        runner.send({ kind: 'start-requested', fresh: true });
    }
    for (const runner of runners) runner.send({ kind: 'dependencies-changed' });
    return applied;
  }

  /** Wants these and all they depend on running. A component that gave up is tried afresh; one that completed stays so. */
  up(names: readonly string[]): readonly string[] {
    const wanted = this.#wantRunning(names);
    for (const runner of wanted) {
      const { kind } = runner.component.state;
      if (kind === 'stopped' || kind === 'gave-up') runner.send({ kind: 'start-requested', fresh: true });
      if (kind === 'stopping') runner.send({ kind: 'start-requested', fresh: false });
    }
    return wanted.map(({ name }) => name);
  }

  /**
   * Those of these, and of all they depend on, that run in a container whose image was built or fetched anew since it was made. Asks
   * the Engine, for a while at most.
   */
  async outdated(names: readonly string[]): Promise<readonly string[]> {
    const { driver } = this.#parts;
    const found = await Promise.all(
      this.#set.findWithDependencies(names).map(async (runner) => {
        const run = runOf(runner.component.state);
        return run !== null && (await driver.isOutdated(run, runner.spec.driver)) ? [runner.name] : [];
      }),
    );
    return found.flat();
  }

  /** Restarts those of these that run: the next run has a container of the image as it is now. */
  renew(names: readonly string[]): void {
    for (const runner of this.#set.find(names)) runner.restart(NEW_IMAGE);
  }

  /** Starts these by hand: counters begin again. What they depend on is wanted too. */
  start(names: readonly string[]): void {
    for (const runner of this.#wantRunning(names)) {
      runner.send({ kind: 'start-requested', fresh: names.includes(runner.name) });
    }
  }

  /**
   * Restarts these by hand: dependents go down first and come up last. What they depend on is wanted too. `anew`: with containers that
   * are made anew.
   */
  restart(names: readonly string[], { anew = false }: { readonly anew?: boolean } = {}): void {
    for (const runner of this.#wantRunning(names)) {
      if (!names.includes(runner.name)) runner.send({ kind: 'start-requested', fresh: false });
      else if (anew) runner.send({ kind: 'anew-requested' });
    }
    this.#stops.add(names, 'restart');
  }

  /** Stops these and remembers that it was asked for: they stay stopped, also after a reboot. */
  stop(names: readonly string[]): void {
    this.#refuseWhenClosing();
    this.#want('stopped', this.#set.find(names));
    this.#stops.add(names, 'stop');
  }

  /**
   * Stops everything in reverse order; what is wanted is not touched. Resolves when all are gone, or cannot be killed; as long as it is
   * not known how one of them is, nobody leaves.
   */
  async shutDown(): Promise<void> {
    this.#closing = true;
    const all = this.#set.all;
    this.#stops.dropRestarts();
    const moving = all.filter(({ component }) => !AT_REST.has(component.state.kind)).map(({ name }) => name);
    this.#stops.add(moving, 'stop');
    await this.#changes.until(() => all.every(({ component, isDoubted }) => !isActive(component.state) && !isDoubted));
  }

  /** Lets go of everything without touching a process. */
  close(): void {
    this.#closing = true;
    this.#beats.close(); // while the runners still know what they have heard
    for (const runner of this.#set.all) runner.close();
    this.#probed.close();
    this.#usage.close();
  }

  /** A component says that it goes on. */
  beat(name: string): void {
    this.#beats.beat(name);
  }

  views(): readonly ComponentView[] {
    const leaving = this.#set.leaving.map((runner) => ({ ...runner.view(), removed: true }));
    return [...this.#set.current.map((runner) => runner.view()), ...leaving];
  }

  /** One of them; null: there is none of this name. */
  view(name: string): ComponentView | null {
    const runner = this.#set.current.find((each) => each.name === name);
    if (runner) return runner.view();
    const leaving = this.#set.leaving.find((each) => each.name === name);
    return leaving ? { ...leaving.view(), removed: true } : null;
  }

  snapshots(): readonly ComponentSnapshot[] {
    return this.#set.current.map((runner) => snapshotOf(runner, this.#parts.clock.now()));
  }

  /** What a component used, newest first: the history, and what is not written yet. */
  samples(query: SampleQuery): readonly SampleStretch[] {
    const { component, since = -Infinity, limit } = query;
    const open = this.#usage.open(component).filter(({ lastAt }) => lastAt >= since);
    return samplesLaidOver(open, this.#parts.store.samples(query), limit);
  }

  /** What is wanted of each component. */
  desired(): Readonly<Record<string, Desired>> {
    return Object.fromEntries(this.#set.current.map(({ name, desired }) => [name, desired]));
  }

  get names(): readonly string[] {
    return this.#set.current.map(({ name }) => name);
  }

  #wantRunning(names: readonly string[]): readonly ComponentRunner[] {
    this.#refuseWhenClosing();
    const wanted = this.#set.findWithDependencies(names);
    for (const { name } of wanted) this.#stops.remove(name);
    this.#want('running', wanted);
    return wanted;
  }

  /** Written in one transaction, before anything is done about it. */
  #want(desired: Desired, runners: readonly ComponentRunner[]): void {
    const { failpoints } = this.#parts;
    failpoints.hit('desired.before-commit');
    this.#commit(...runners.map((runner) => runner.want(desired)));
    failpoints.hit('desired.after-commit');
  }

  #refuseWhenClosing(): void {
    if (this.#closing) throw new AppError('DAEMON_CLOSING');
  }

  /** A run of a component that the configuration no longer names: a runner that can only end it. */
  #stray({ component, run }: FoundRun): ComponentRunner {
    this.#parts.log.warn('ending a run of a component that the configuration no longer names', { component, run });
    const runner = new ComponentRunner(this.#parts.straySpec(component), this.#world, NEW);
    this.#set.addLeaving(runner);
    return runner;
  }

  /** Whom the configuration no longer names has a crash all the same that the last daemon could not explain any more. */
  #explainStray({ unexplained, ...record }: ComponentRecord): void {
    const { straySpec } = this.#parts;
    if (unexplained) this.#commit({ record, crash: explained(straySpec(record.name), unexplained, this.#world) });
  }

  #forget(runner: ComponentRunner): void {
    this.#parts.store.forget(runner.name);
    runner.close();
    this.#parts.driver.tidy(this.#set.isContainer, this.#set.isCompose);
  }

  #commit(...commits: readonly ComponentCommit[]): void {
    this.#parts.record(...commits);
  }

  /** Those who wait look again whether they still have to. */
  #lookAgain(): void {
    for (const runner of this.#set.current)
      if (runner.component.state.kind === 'waiting') runner.send({ kind: 'dependencies-changed' });
  }

  /** Somebody's state changed: those who wait for it look again, a stop in progress goes on, the watchers are told. */
  #changed(runner: ComponentRunner, before: Component): void {
    const { state } = runner.component;
    const recovered = state.kind === 'running' && before.state.kind === 'starting' && isUnasked(state.attempt);
    for (const dependent of this.#set.dependentsOf(runner)) {
      dependent.send({ kind: 'dependencies-changed' });
      if (recovered && runner.spec.restart.dependents)
        dependent.restart(`${runner.name}, which it depends on, was restarted`);
    }
    if (state.kind === 'stopped' && this.#set.removeLeaving(runner)) this.#forget(runner);
    this.#forgive(before.state, state);
    this.#stops.advance();
    this.#changes.tell();
  }

  /** A fault of the machine is over: who waits for that, or gave up meanwhile, is tried at once. */
  #forgive(before: ComponentState, state: ComponentState): void {
    const since = this.#faults.noted(before, state, this.#parts.clock.now());
    if (since === null) return;
    for (const other of this.#set.current) other.send({ kind: 'machine-recovered', since });
  }
}

const CHANGED = 'its configuration changed';
const NEW_IMAGE = 'its image was built or fetched anew';
const AT_REST: ReadonlySet<string> = new Set(['stopped', 'completed', 'gave-up']); // nothing to stop, and remembered as they are

// What a runner begins with: what earlier daemons wrote down, or nothing.

/** Until somebody wants it, a new component is not wanted. */
export const NEW: Past = { component: INITIAL, desired: 'stopped', record: null };

/** What is wanted of it, as it was kept beside the history. */
export interface WantedState {
  readonly desired: Desired;
  /** The history could not be written then: it counts more than what stands there. */
  readonly isNewer: boolean;
}

export function pastOf(record: ComponentRecord | undefined, clock: Clock, wish: WantedState): Past {
  if (record === undefined) return { ...NEW, desired: wish.desired };
  const component = restore(record.component, record.bootId, clock.bootId, clock.now());
  return { component, desired: wish.isNewer ? wish.desired : record.desired, record };
}

// Answers of probes are written a few seconds late, many at once.

const BATCH_MS = 5_000;

export const probeJournal = (clock: Clock, write: (probed: readonly ProbeStretch[]) => void): Journal<ProbeStretch> => {
  const keyOf = ({ run, role, firstAt }: ProbeStretch) => `${run} ${role} ${firstAt}`;
  return new Journal({ clock, everyMs: BATCH_MS, keyOf, write });
};
