/** One component: its mailbox, its state, and the effects of each step. The only writer of that state. */
import type { Clock } from '../base/clock.ts';
import type { SignalName, SpawnProblem } from '../base/pure/exit.ts';
import { type ComponentName, type MonoMs, type RunId, runId, type WallMs } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import { ComponentMemory, type Past } from './component-memory.ts';
import type { EventQueue } from './event-queue.ts';
import { HeartWatch, type HeartWorld } from './heartbeat/heart-watch.ts';
import type { Driver, Launch, RunReport } from './ports/driver.ts';
import type { ComponentCommit, ComponentRecord, Desired } from './ports/store.ts';
import { RunProbes, type RunProbesWorld } from './probes/run-probes.ts';
import type { Findings } from './rules/freeze/freeze.ts';
import type { Role } from './rules/health/probe.ts';
import { next, wakeAt } from './rules/lifecycle/next.ts';
import type { Attempt, Component, ComponentEvent, ComponentState, Effect } from './rules/lifecycle/state.ts';
import { isCleanedUp } from './rules/lifecycle/transitions.ts';
import { holdOf, unseen } from './rules/lifecycle/when-held.ts';
import { componentView, runOf } from './rules/status.ts';
import type { ComponentView, Subject } from './rules/views.ts';
import type { ComponentSpec } from './spec.ts';
import { type Explainer, explained, stepCommit } from './step-commit.ts';
import type { UsageWatch } from './usage/usage-watch.ts';

/** What a runner needs from the world. Everything is handed in; nothing is reached for. */
export interface RunnerWorld extends Runtime, Explainer, MonitorsWorld {
  readonly driver: Driver;
  readonly eventQueue: EventQueue;
  /** Writes to the history and tells those who listen. */
  commit(commit: ComponentCommit): void;
  /** Dependencies of this component whose condition does not hold right now. */
  unmet(spec: ComponentSpec): readonly ComponentName[];
  /** Everything the driver needs for a run, or why it cannot be given. */
  launch(spec: ComponentSpec, run: RunId, attempt: Attempt): Launch | SpawnProblem;
  /** Looks into the processes of a run. Never rejects. */
  examine(spec: ComponentSpec, run: RunId, dump: SignalName | null): Promise<Findings>;
  /** It beats. Called as often as it does. */
  beaten(runner: ComponentRunner): void;
  /** Called after every step that changed something, when its effects have been performed. */
  changed(runner: ComponentRunner, before: Component): void;
}

const NEVER_BEGAN: SpawnProblem = {
  code: 'cancelled',
  message: 'the daemon died before this run began',
  heals: true,
};

export class ComponentRunner {
  spec: ComponentSpec;
  readonly #world: RunnerWorld;
  #component: Component;
  #desired: Desired;
  readonly #memory: ComponentMemory;
  readonly #monitors: RunMonitors;
  #alarm: AbortController | null = null;
  #closed = false;

  constructor(spec: ComponentSpec, world: RunnerWorld, past: Past) {
    const { component, desired, record } = past;
    this.spec = spec;
    this.#world = world;
    this.#component = component;
    this.#desired = desired;
    this.#memory = new ComponentMemory(record);
    this.#monitors = new RunMonitors(world, { send: this.send, beaten: () => world.beaten(this) });
  }

  get name(): ComponentName {
    return this.spec.name;
  }
  get component(): Component {
    return this.#component;
  }
  get desired(): Desired {
    return this.#desired;
  }
  /** When its run was last heard; null: it has no heartbeat, or was not heard yet. */
  get beatAt(): MonoMs | null {
    return this.#monitors.heart.stored?.beatAt ?? null;
  }

  /** The configuration says this now; what is asked about the component follows it at once. */
  respec(spec: ComponentSpec): void {
    this.spec = spec;
    this.send({ kind: 'probes-changed' });
  }

  /** It gives a sign of progress. */
  beat(): void {
    this.#monitors.heart.beat();
  }

  /** What is wanted from now on, as it has to be written before anything is done about it. */
  want(desired: Desired): ComponentCommit {
    this.#desired = desired;
    return { record: this.#record() };
  }

  /** The only way to change this component's state. Events are handled one at a time, in order. */
  readonly send = (event: ComponentEvent): void => {
    this.#world.eventQueue.post(() => {
      if (!this.#closed) this.#handle(event);
    });
  };

  /** A restart of what runs, with the reason that `status` will show. */
  restart(reason: string): void {
    const { kind } = this.#component.state;
    if (kind === 'running' || kind === 'starting') this.#memory.startReason = reason;
    this.send({ kind: 'restart-requested', byHand: false });
  }

  /** What somebody asked for by hand, at once: only in a turn of the queue. */
  carryOut(request: 'stop' | 'restart'): void {
    if (this.#closed) return;
    if (request === 'restart') this.#memory.startReason = 'requested by hand';
    this.#handle(request === 'restart' ? { kind: 'restart-requested', byHand: true } : { kind: 'stop-requested' });
  }

  /** Takes over the run that the record names. `hasTraces`: its directory exists. */
  adopt(hasTraces: boolean): void {
    const { driver, clock } = this.#world;
    const { state } = this.#component;
    const run = runOf(state);
    this.#explain(); // the last daemon may not have
    // The intent is written before the directory is made: nothing to see of a run that never got a pid means it never began.
    const neverBegan = !hasTraces && (state.kind === 'starting' || (state.kind === 'stopping' && state.pid === null));
    if (run !== null && neverBegan) this.send({ kind: 'spawn-failed', run, problem: NEVER_BEGAN });
    else if (run !== null) {
      this.#memory.adopted = true;
      // Its processes can be looked at by whoever adopts them; the rest is asked for, and may not answer.
      if (this.spec.driver.kind !== 'process') this.#component = unseen(this.#component, clock.now());
      driver.adopt(run, this.spec.driver, (report) => this.#report(run, report));
    } else if (state.kind === 'gave-up' && isCleanedUp(this.spec)) cleanUp(this.spec, null, this.#world); // the last daemon may not have
    this.#letGo();
    this.#arm();
  }

  /** Takes over a run that the record does not know about: the disk was full, or the record was lost. */
  adoptUnrecorded(run: RunId): void {
    const state = { kind: 'starting', run, since: this.#world.clock.now(), attempt: 'restart' } as const;
    this.#component = { ...this.#component, state };
    this.adopt(true);
  }

  /** Ends the mailbox and the alarm; the component itself is not touched. */
  close(): void {
    this.#closed = true;
    this.#alarm?.abort();
    this.#monitors[Symbol.dispose]();
  }

  view(): ComponentView {
    const { clock, driver, unmet, usage } = this.#world;
    const run = runOf(this.#component.state);
    const { adopted, startedAt, lastRestart, lastExit, survivors } = this.#memory;
    const facts = {
      ...{ adopted, startedAt, lastRestart, lastExit, survivors },
      spec: this.spec,
      component: this.#component,
      desired: this.#desired,
      unmet: this.#component.state.kind === 'waiting' ? unmet(this.spec) : [],
      treeMechanism: driver.treeMechanism,
      shim: driver.shim,
      probes: this.#monitors.probes.views(),
      heartbeat: this.#monitors.heart.view(),
      sample: usage.last(this.name),
      condition: run === null ? null : driver.condition(run),
      doubt: run === null ? null : driver.doubt(run),
      limits: run === null ? [] : driver.limits(run),
      container: run === null ? null : driver.container(run),
      startedByOthers: run === null ? driver.startedByOthers(this.name) : null,
    };
    return componentView(facts, { now: clock.now(), wall: clock.wallNow() });
  }

  #handle(event: ComponentEvent): void {
    const { clock, random, failpoints, driver } = this.#world;
    const before = this.#component;
    const [at, now] = [clock.wallNow(), clock.now()];
    const { component, effects } = next(before, event, {
      now,
      random: random(),
      newRun: runId(this.name, at, random()),
      unmet: this.#world.unmet(this.spec),
      blind: this.#isBlind(),
      policy: this.spec,
    });
    this.#component = component;
    this.#monitors.follow(this.spec, component.state, this.#memory);
    if (component === before && effects.length === 0) {
      this.#letGo(); // it was at rest before it was meant to be
      return;
    }
    const wall = (mono: MonoMs = now) => (at - Math.max(0, now - mono)) as WallMs; // a death seen late is dated when it happened
    this.#memory.learn(event, effects, wall);
    failpoints.hit('step.before-commit');
    const release = (run: RunId) => {
      driver.release(run);
      if (effects.some(({ kind }) => kind === 'clean-up')) cleanUp(this.spec, run, this.#world);
    };
    const probes = (run: RunId) => this.#monitors.probes.before(run);
    const facts = { spec: this.spec, at, wall, event, effects, record: this.#record(), release, probes };
    const commit = stepCommit(facts, this.#world);
    this.#memory.unexplained = commit.record?.unexplained ?? null;
    this.#world.commit(commit);
    failpoints.hit('step.after-commit');
    for (const effect of effects) this.#perform(effect);
    this.#explain();
    this.#letGo();
    this.#arm();
    this.#world.changed(this, before);
  }

  /** Gathers the evidence of a crash that had to wait for the next start. Its record says until then that it is missing. */
  #explain(): void {
    const { unexplained } = this.#memory;
    if (unexplained === null || unexplained === undefined) return;
    const { failpoints, commit } = this.#world;
    failpoints.hit('evidence.before');
    this.#memory.unexplained = null;
    const crash = explained(this.spec, unexplained, this.#world);
    commit({ record: this.#record(), crash, syncLater: true });
    failpoints.hit('evidence.recorded');
  }

  /** A daemon that only ends stops its components, too; the next one goes on with them. */
  #letGo(): void {
    if (this.#component.state.kind === 'stopped' && this.#desired === 'stopped') this.#world.driver.letGo(this.name);
  }

  /** Nothing can be done to its run, or be known of it: time that passes meanwhile says nothing about it. */
  #isBlind(): boolean {
    const run = runOf(this.#component.state);
    return run !== null && (this.#world.driver.condition(run) === 'engine-unreachable' || this.isDoubted);
  }

  /** How its run is cannot be found out right now. */
  get isDoubted(): boolean {
    const run = runOf(this.#component.state);
    return run !== null && this.#world.driver.doubt(run) !== null;
  }

  #record(): ComponentRecord {
    const { lastRestart, lastExit, startedAt, unexplained } = this.#memory;
    const pulse = this.#monitors.heart.stored ?? this.#memory.pulse;
    return {
      name: this.name,
      desired: this.#desired,
      bootId: this.#world.clock.bootId,
      component: this.#component,
      specHash: this.#world.specHash(this.spec),
      ...{ lastRestart, lastExit, startedAt },
      ...(pulse !== null && pulse.run === runOf(this.#component.state) ? { pulse } : {}),
      ...(unexplained ? { unexplained } : {}),
    };
  }

  #perform(effect: Effect): void {
    const { driver } = this.#world;
    switch (effect.kind) {
      case 'spawn':
        this.#spawn(effect.run, effect.attempt);
        break;
      case 'signal':
        driver.signal(effect.run, effect.signal);
        this.#nameSurvivors(effect.run);
        break;
      case 'kill-tree':
        driver.killTree(effect.run);
        this.#nameSurvivors(effect.run);
        break;
      case 'examine': {
        const { run, dump } = effect;
        void this.#world.examine(this.spec, run, dump).then((found) => this.send({ kind: 'examined', run, ...found }));
        break;
      }
      case 'end-run': // written with the step; the directory goes once that is durable
      case 'clean-up': // and then the container
      case 'tell': // written with the step
        break;
      default:
        throw new Error(`no such effect: ${JSON.stringify(effect satisfies never)}`);
    }
  }

  #spawn(run: RunId, attempt: Attempt): void {
    const { driver, launch } = this.#world;
    const launched = launch(this.spec, run, attempt);
    if ('heals' in launched) this.send({ kind: 'spawn-failed', run, problem: launched });
    else {
      const { unhelped: failures = 0, anew = false } = this.#component.counters;
      const isContainer = launched.kind === 'container' || launched.kind === 'compose';
      const whole = isContainer ? { ...launched, failures, anew } : launched;
      driver.start(whole, (report) => this.#report(run, report));
    }
  }

  #report(run: RunId, report: RunReport): void {
    if (report.kind === 'shim-lost') {
      const about = { component: this.name, run };
      this.#world.log.warn('a shim was killed; its run continues, but its exit code will be unknown', about);
      return;
    }
    this.send({ ...report, run });
    if (report.kind === 'started' && !this.#memory.adopted)
      this.#world.eventQueue.post(() => tellUnlimited({ kind: 'component', name: this.name }, run, this.#world));
  }

  /** Who is still there, for status; asked only while something is being ended. */
  #nameSurvivors(run: RunId): void {
    this.#world.driver.survivors(run).then(
      (found) => {
        if (runOf(this.#component.state) === run)
          this.#memory.survivors = found.map(({ pid, name }) => `${pid} (${name})`);
      },
      (error: unknown) => this.#world.log.warn('could not list what is left of a run', { run, error: String(error) }),
    );
  }

  /** One alarm at most, for the time the state itself names. */
  #arm(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    const at = wakeAt(this.#component.state);
    if (at === null || this.#closed) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#world.clock.sleepUntil(at, alarm.signal).then(
      () => this.#alarm === alarm && this.send({ kind: 'woke' }),
      () => {}, // a newer state has its own alarm
    );
  }
}

// What was made for a component that gave up goes when the configuration says so, and that is told.

export interface CleanUpWorld {
  readonly driver: Pick<Driver, 'cleanUp'>;
  readonly clock: Clock;
  commit(commit: ComponentCommit): void;
}

/** `run`: the one after which it gave up; null: of an earlier daemon, which may not have done it. */
export function cleanUp({ name }: ComponentSpec, run: RunId | null, { driver, clock, commit }: CleanUpWorld): void {
  const event = { subject: { kind: 'component', name }, type: 'component.cleaned-up', run } as const;
  driver.cleanUp(name, (container) => commit({ events: [{ ...event, at: clock.wallNow(), data: { container } }] }));
}

// A limit that cannot be kept on this machine is said aloud with every run: once in the log, once as an event.

export interface UnlimitedWorld extends Pick<Runtime, 'clock' | 'log'> {
  readonly driver: Pick<Driver, 'limits'>;
  commit(commit: ComponentCommit): void;
}

/** `about`: what else is to be said of whose run it is. */
export function tellUnlimited(
  subject: Subject,
  run: RunId,
  { driver, clock, log, commit }: UnlimitedWorld,
  about: Readonly<Record<string, string>> = {},
): void {
  for (const { name, max, mechanism, note } of driver.limits(run)) {
    if (mechanism !== null) continue;
    const data = { ...about, limit: name, max, why: note };
    log.warn('a limit is not in force', { [subject.kind]: subject.name, run, ...data });
    commit({ events: [{ at: clock.wallNow(), subject, type: `${subject.kind}.unlimited`, run, data }] });
  }
}

// All who ask about the run of a component: they begin and end with it, and rest while nothing can or may be asked of it.

export interface MonitorsWorld extends RunProbesWorld, HeartWorld {
  readonly usage: Pick<UsageWatch, 'follow' | 'last'>;
}

export interface MonitorsListener {
  send(event: ComponentEvent): void;
  /** It beats. Called as often as it does. */
  beaten(): void;
}

const NOTHING: ComponentState = { kind: 'stopped' };

export class RunMonitors implements Disposable {
  readonly probes: RunProbes;
  readonly heart: HeartWatch;
  readonly #world: MonitorsWorld;

  constructor(world: MonitorsWorld, listener: MonitorsListener) {
    this.#world = world;
    const verdict = (run: RunId, role: Role, pass: boolean, reason: string) =>
      listener.send({ kind: 'probed', run, role, pass, reason });
    this.probes = new RunProbes(world, verdict, () => this.heart.asking());
    this.heart = new HeartWatch(world, {
      send: listener.send,
      noted: listener.beaten,
      rest: (isResting) => this.probes.rest(isResting),
    });
  }

  /** The component is in this state now. */
  follow(spec: ComponentSpec, state: ComponentState, { adopted, pulse }: ComponentMemory): void {
    const isHeld = holdOf(state) !== null;
    const asked = isHeld ? NOTHING : state;
    this.probes.follow(spec, asked, adopted);
    this.heart.follow(spec, state, pulse, isHeld);
    this.#world.usage.follow(spec, asked);
  }

  [Symbol.dispose](): void {
    this.probes[Symbol.dispose]();
    this.heart[Symbol.dispose]();
  }
}
