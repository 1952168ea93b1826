/** One agent: its record, and the effects of each step. The only writer of that record. */

import { type ExitView, exitView, type SpawnProblem } from '../base/pure/exit.ts';
import { type MonoMs, type RunId, runId, type WallMs } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Commit, Recorder } from '../history/ports.ts';
import type { Incidents } from '../incidents/ports.ts';
import { type RunnerWorld, tellUnlimited } from '../supervision/component-runner.ts';
import { HeartWatch, type HeartWorld } from '../supervision/heartbeat/heart-watch.ts';
import type { Evidence } from '../supervision/ports/crash.ts';
import type { ProcessDriver, ProcessLaunch, RunReport } from '../supervision/ports/driver.ts';
import type { Sampler } from '../supervision/ports/sampler.ts';
import type { NewCrash, NewEvent, RunBegun } from '../supervision/ports/store.ts';
import type { StoredPulse } from '../supervision/rules/freeze/pulse.ts';
import { FRESH, type In } from '../supervision/rules/lifecycle/state.ts';
import type { HeartbeatView, Subject } from '../supervision/rules/views.ts';
import { freezeView } from '../supervision/step-commit.ts';
import type { UsageWatch } from '../supervision/usage/usage-watch.ts';
import { agentSpec } from './agent-spec.ts';
import { asComponent, heardAgain } from './rules/live-run.ts';
import { agentWakesAt, type NewAgent, newAgent, nextOfAgent } from './rules/next.ts';
import {
  type AgentContext,
  type AgentEffect,
  type AgentEnd,
  type AgentEvent,
  type AgentPolicy,
  type AgentStep,
  runOfAgent,
} from './rules/step.ts';
import { heartbeatWithTask } from './rules/task.ts';
import { type AgentRecord, type AgentsSpec, type AgentType, isOver } from './spec.ts';

// What agents need from the world around them.

export interface AgentSupervisorParts extends Runtime, HeartWorld, Pick<RunnerWorld, 'examine'> {
  readonly driver: ProcessDriver;
  readonly sampler: Sampler;
  readonly incidentService: Pick<Incidents, 'recovered'>;
  readonly record: Recorder;
  /** Whether the end of this run is written down. */
  isRecorded(run: RunId): boolean;
  /** Everything one run needs, or why it cannot begin. */
  launch(record: AgentRecord, type: AgentType, run: RunId): ProcessLaunch | SpawnProblem;
  /** What the run is made of, and where its output begins. */
  begun(record: AgentRecord, type: AgentType): Pick<RunBegun, 'specHash' | 'ingredients' | 'logOffset'>;
  evidence(record: AgentRecord, type: AgentType | null, exit: ExitView, at: WallMs): Evidence;
  /** A step failed half-way: this process must end, agents go on, the next daemon finds the truth on disk. */
  fatal(error: unknown): void;
}

interface AgentWorld extends AgentSupervisorParts {
  readonly usage: Pick<UsageWatch, 'follow'>;
  spec(): AgentsSpec;
  /** Its record is another one now. */
  changed(agent: OneAgent): void;
  /** It beats. Called as often as it does. */
  beaten(agent: OneAgent): void;
  /** All are being ended: nobody is respawned. */
  isClosing(): boolean;
}

/** For agents whose type left the configuration: they go on, and are not respawned. */
const WITHOUT_TYPE: AgentPolicy = {
  process: { kind: 'process', command: [], shell: false, cwd: '/', env: {}, envFiles: [] },
  stop: { signal: 'SIGTERM', graceMs: 10_000 },
  backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0.1, resetAfterMs: 0 },
  minUptimeMs: 10_000,
  neverOn: [],
  heartbeat: null,
  timeoutMs: null,
};

const NEVER_BEGAN = { code: 'cancelled', message: 'the daemon died before this run began', heals: true } as const;

export class OneAgent {
  readonly #world: AgentWorld;
  readonly #heart: HeartWatch;
  /** How the heartbeat of its run stood when an earlier daemon wrote it down. */
  readonly #pulse: StoredPulse | null;
  #record: AgentRecord;
  #alarm: AbortController | null = null;
  /** Its run is of an earlier daemon, and whether it lives is not known yet: no time is up before that. */
  #isUnseen = false;
  #isClosed = false;

  constructor(record: AgentRecord, world: AgentWorld) {
    this.#record = record;
    this.#world = world;
    this.#pulse = record.pulse ?? null;
    this.#heart = new HeartWatch(world, {
      send: (event) => this.send(event),
      noted: () => world.beaten(this),
      rest: () => {}, // nobody else asks it anything
    });
  }

  /** Writes down that it is wanted, then begins it. */
  static begin(about: NewAgent, world: AgentWorld): OneAgent {
    const type = typeOf(about.type, world);
    const step = newAgent(about, contextFor(about, type, world));
    const agent = new OneAgent(step.record, world);
    agent.#take(step, null, type);
    return agent;
  }

  get record(): AgentRecord {
    return this.#record;
  }

  get isOver(): boolean {
    return isOver(this.#record.state);
  }

  /** How the heartbeat of its run stands; null: it has none, or does not run. */
  get heartbeat(): HeartbeatView | null {
    return this.#heart.view();
  }

  /** As it has to be written down: with what was heard of it until now. */
  get written(): AgentRecord {
    const { pulse: _, ...record } = this.#record;
    const pulse = this.#heart.stored ?? this.#pulse;
    return pulse !== null && pulse.run === runOfAgent(record.state) ? { ...record, pulse } : record;
  }

  /** It gives a sign of progress. */
  beat(): void {
    this.#heart.beat();
  }

  /** The configuration of its type is another one now; what is expected of its run follows that at once. */
  respec(): void {
    this.send({ kind: 'probes-changed' });
    this.arm();
  }

  /** Takes over what an earlier daemon left. `hasTraces`: the directory of its run exists. */
  adopt(hasTraces: boolean): void {
    const { clock, driver } = this.#world;
    const { state, bootId } = this.#record;
    const run = runOfAgent(state);
    if (bootId !== clock.bootId) {
      this.send({ kind: 'rebooted' });
      return;
    }
    this.#record = heardAgain(this.#record, clock.now());
    // The intent is written before the directory is made: nothing to see of a run that never got a pid means it never began.
    const neverBegan = !hasTraces && (state.kind === 'starting' || (state.kind === 'stopping' && state.pid === null));
    if (run !== null && neverBegan) this.send({ kind: 'spawn-failed', run, problem: NEVER_BEGAN });
    else if (run !== null) {
      this.#isUnseen = true;
      driver.adopt(run, (report) => this.#report(run, report));
    }
    this.#resume();
    this.arm();
  }

  send(event: AgentEvent): void {
    if (this.#isClosed) return;
    try {
      const type = typeOf(this.#record.type, this.#world);
      const step = nextOfAgent(this.#record, event, contextFor(this.#record, type, this.#world));
      if (step.record !== this.#record || step.effects.length > 0) this.#take(step, event, type);
      else this.#follow(type);
    } catch (error) {
      this.#isClosed = true; // nothing is decided any more on top of half a step
      this.#world.fatal(error);
    }
  }

  /** Ends the alarm; the agent itself is not touched. */
  close(): void {
    this.#isClosed = true;
    this.#alarm?.abort();
    this.#heart[Symbol.dispose]();
    this.#world.usage.follow(agentSpec(this.#record, null), { kind: 'stopped' });
  }

  /** Those who listen to its run, and look at what it uses, do so as long as it lives. */
  #follow(type: AgentType | null): void {
    const spec = agentSpec(this.#record, type);
    const state = asComponent(this.#record.state, this.#world.clock.now());
    this.#heart.follow(spec, state, this.#pulse, false);
    this.#world.usage.follow(spec, spec.limits.softMemoryBytes === null ? { kind: 'stopped' } : state);
  }

  #take(step: AgentStep, event: AgentEvent | null, type: AgentType | null): void {
    const { clock, failpoints, driver } = this.#world;
    const at = clock.wallNow();
    const now = clock.now();
    const wall = (mono: MonoMs) => (at - Math.max(0, now - mono)) as WallMs; // a death seen late is dated when it happened
    failpoints.hit('agent.before-commit');
    const { record, commit } = stepCommit({ before: this.#record, event, step, type, at, wall }, this.#world);
    this.#record = record;
    this.#follow(type);
    const released = step.effects.flatMap((effect) => (effect.kind === 'release' ? [effect.run] : []));
    const onDurable = () => {
      for (const run of released) driver.release(run);
    };
    this.#world.record({ ...commit, agents: [this.written], ...(released.length > 0 ? { onDurable } : {}) });
    failpoints.hit('agent.after-commit');
    for (const effect of step.effects) this.#perform(effect, type);
    this.arm();
    this.#world.changed(this);
  }

  #perform(effect: AgentEffect, type: AgentType | null): void {
    const { driver, incidentService } = this.#world;
    switch (effect.kind) {
      case 'start':
        this.#start(effect.run, type);
        break;
      case 'signal':
        driver.signal(effect.run, effect.signal);
        break;
      case 'kill':
        driver.killTree(effect.run);
        break;
      case 'examine': {
        const { run, dump } = effect;
        const spec = agentSpec(this.#record, type);
        void this.#world.examine(spec, run, dump).then((found) => this.send({ kind: 'examined', run, ...found }));
        break;
      }
      case 'recovered':
        incidentService.recovered(subjectOf(this.#record), this.#record.task);
        break;
      case 'release': // once the record is durable
      case 'tell': // written with the step
        break;
      default:
        throw new Error(`no such effect: ${JSON.stringify(effect satisfies never)}`);
    }
  }

  #start(run: RunId, type: AgentType | null): void {
    const { driver, launch } = this.#world;
    const gone = {
      code: 'other',
      message: `there is no agent type "${this.#record.type}" any more`,
      heals: false,
    } as const;
    const launched = type === null ? gone : launch(this.#record, type, run);
    if ('heals' in launched) setImmediate(() => this.send({ kind: 'spawn-failed', run, problem: launched }));
    else driver.start(launched, (report) => this.#report(run, report));
  }

  /** The signal of a stop may not have been sent before the last daemon died. */
  #resume(): void {
    const { state } = this.#record;
    const { driver } = this.#world;
    if (state.kind !== 'stopping') return;
    const { stop } = typeOf(this.#record.type, this.#world) ?? WITHOUT_TYPE;
    const { stage } = asComponent(state, this.#world.clock.now()) as In<'stopping'>;
    if (stage === 'interrupted') driver.signal(state.run, 'SIGINT');
    else if (stage === 'asked') driver.signal(state.run, stop.signal);
    else driver.killTree(state.run);
  }

  #report(run: RunId, report: RunReport): void {
    const isAdopted = this.#isUnseen;
    this.#isUnseen = false;
    if (report.kind === 'shim-lost') {
      const { type, task } = this.#record;
      this.#world.log.warn('a shim was killed; its agent continues, but its exit code will be unknown', {
        type,
        task,
        run,
      });
    } else if (report.kind === 'started') {
      if (report.pid !== null) this.send({ kind: 'started', run, pid: report.pid, at: report.at });
      if (isAdopted) this.arm();
      else this.#tellUnlimited(run);
    } else if (report.kind === 'exited' || report.kind === 'spawn-failed' || report.kind === 'tree-gone') {
      this.send({ ...report, run });
    }
  }

  #tellUnlimited(run: RunId): void {
    const { driver, clock, log, record } = this.#world;
    const { task } = this.#record;
    tellUnlimited(subjectOf(this.#record), run, { driver, clock, log, commit: record }, { task });
  }

  /** One alarm at most, for the time the state itself names. */
  arm(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    const { state } = this.#record;
    const at = agentWakesAt(state, typeOf(this.#record.type, this.#world) ?? WITHOUT_TYPE);
    if (at === null || this.#isClosed || (this.#isUnseen && state.kind === 'running')) return;
    if (state.kind === 'backing-off' && this.#world.isClosing()) return; // for the next daemon
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#world.clock.sleepUntil(at, alarm.signal).then(
      () => this.#alarm === alarm && this.send({ kind: 'woke' }),
      () => {}, // a newer state has its own alarm
    );
  }
}

const typeOf = (name: string, { spec }: AgentWorld): AgentType | null =>
  spec().types.find((type) => type.name === name) ?? null;

type About = Pick<AgentRecord, 'name' | 'task'> & { readonly state?: AgentRecord['state'] };

function contextFor({ name, task, state }: About, type: AgentType | null, world: AgentWorld): AgentContext {
  const { clock, random, driver } = world;
  const wall = clock.wallNow();
  const run = state ? runOfAgent(state) : null;
  return {
    now: clock.now(),
    wall,
    bootId: clock.bootId,
    random: random(),
    newRun: runId(name, wall, random()),
    blind: run !== null && driver.doubt(run) !== null,
    policy: type ? { ...type, heartbeat: type.heartbeat && heartbeatWithTask(type.heartbeat, task) } : WITHOUT_TYPE,
    maxRespawns: type === null ? 0 : world.spec().maxRespawns,
  };
}

// What one step of an agent writes into the history: its record, its events, the begin or the end of a run, the crash.

interface StepFacts {
  readonly before: AgentRecord;
  readonly event: AgentEvent | null;
  readonly step: AgentStep;
  readonly type: AgentType | null;
  readonly at: WallMs;
  wall(mono: MonoMs): WallMs;
}

interface StepCommit {
  /** With what the crash said. */
  readonly record: AgentRecord;
  readonly commit: Commit;
}

const subjectOf = ({ type }: Pick<AgentRecord, 'type'>): Subject => ({ kind: 'agent', name: type });

function stepCommit(facts: StepFacts, parts: AgentSupervisorParts): StepCommit {
  const { event, step, type, at } = facts;
  const { end } = step;
  const events = eventsOf(facts);
  const found = end?.crash ? crashOf(facts, end, parts) : null;
  const record = found === null ? step.record : { ...step.record, error: errorOf(found) };
  const started = step.effects.find((effect) => effect.kind === 'start');
  const base = {
    ...(started && type
      ? { runBegun: { run: started.run, component: record.name, at, ...parts.begun(record, type) } }
      : {}),
    ...(event?.kind === 'started' ? { runPid: { run: event.run, pid: event.pid } } : {}),
    ...(end ? { runEnded: endedOf(facts, end) } : {}),
  };
  return { record, commit: { ...base, ...(found === null ? {} : { crash: found }), events } };
}

function eventsOf({ step, before, at }: StepFacts): readonly NewEvent[] {
  const subject = subjectOf(before);
  const run = 'run' in step.record.state ? step.record.state.run : (step.end?.run ?? null);
  return step.effects.flatMap((effect) =>
    effect.kind === 'tell'
      ? [{ at, subject, type: effect.type, run, data: { task: before.task, ...effect.data } }]
      : [],
  );
}

function endedOf({ before, wall }: StepFacts, end: AgentEnd): NonNullable<Commit['runEnded']> {
  const { run, uptimeMs, planned, decision, rule, cause, unhealthy } = end;
  const common = { run, component: before.name, at: wall(end.at), uptimeMs, exit: exitView(cause, unhealthy) };
  // The last good run of everything with a name is kept for ever, and tasks are without end.
  return { ...common, planned, good: false, decision, rule };
}

function crashOf({ before, type, wall }: StepFacts, end: AgentEnd, parts: AgentSupervisorParts): NewCrash {
  const { run, uptimeMs, decision, rule, cause, unhealthy } = end;
  const exit = exitView(cause, unhealthy);
  const at = wall(end.at);
  const failures = before.respawns.length + 1;
  const evidence = parts.evidence(before, type, exit, at);
  return {
    subject: subjectOf(before),
    ...{ run, at, uptimeMs, exit, decision, rule },
    counters: { ...FRESH, failures, total: before.respawns.length },
    restartsInWindow: before.respawns.length,
    ...evidence,
    rootCause: unhealthy ?? evidence.rootCause,
    ...(end.freeze ? { freeze: freezeView(end.freeze, wall) } : {}),
    dependencies: [],
    probes: [],
    agentType: before.type,
    taskId: before.task,
    ...(before.pid === null ? {} : { pid: before.pid }),
  };
}

/** "ImportError: cannot import name …", or what is known instead. */
const errorOf = ({ errorType, errorMessage, rootCause, exit }: NewCrash): string | null => {
  // What it says while we end it is not why.
  if (exit.unhealthy !== null) return exit.unhealthy;
  return errorType !== null && errorMessage !== null
    ? `${errorType}: ${errorMessage}`
    : (errorMessage ?? errorType ?? rootCause);
};
