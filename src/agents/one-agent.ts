/** One agent: its record, and the effects of each step. The only writer of that record. */

import { exitView } from '../base/pure/exit.ts';
import { type MonoMs, type RunId, runId, type WallMs } from '../base/pure/ids.ts';
import type { Commit } from '../history/ports.ts';
import type { RunReport } from '../supervision/ports/driver.ts';
import type { NewCrash, NewEvent } from '../supervision/ports/store.ts';
import { FRESH } from '../supervision/rules/lifecycle/state.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { KeepingParts } from './parts.ts';
import { agentWakesAt, type NewAgent, newAgent, nextOfAgent } from './rules/next.ts';
import {
  type AgentContext,
  type AgentEffect,
  type AgentEnd,
  type AgentEvent,
  type AgentStep,
  runOfAgent,
} from './rules/step.ts';
import { type AgentRecord, type AgentsSpec, type AgentType, isOver } from './spec.ts';

export interface AgentWorld extends KeepingParts {
  spec(): AgentsSpec;
  /** Its record is another one now. */
  changed(agent: OneAgent): void;
}

/** For agents whose type left the configuration: they go on, and are not respawned. */
const WITHOUT_TYPE = {
  stop: { signal: 'SIGTERM', graceMs: 10_000 },
  backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0.1, resetAfterMs: 0 },
  minUptimeMs: 10_000,
} as const;

const NEVER_BEGAN = { code: 'cancelled', message: 'the daemon died before this run began', heals: true } as const;

export class OneAgent {
  readonly #world: AgentWorld;
  #record: AgentRecord;
  #alarm: AbortController | null = null;
  #isClosed = false;

  constructor(record: AgentRecord, world: AgentWorld) {
    this.#record = record;
    this.#world = world;
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

  /** Takes over what an earlier daemon left. `hasTraces`: the directory of its run exists. */
  adopt(hasTraces: boolean): void {
    const { clock, driver } = this.#world;
    const { state, bootId } = this.#record;
    const run = runOfAgent(state);
    if (bootId !== clock.bootId) {
      this.send({ kind: 'rebooted' });
      return;
    }
    // The intent is written before the directory is made: nothing to see of a run that never got a pid means it never began.
    const neverBegan = !hasTraces && (state.kind === 'starting' || (state.kind === 'stopping' && state.pid === null));
    if (run !== null && neverBegan) this.send({ kind: 'spawn-failed', run, problem: NEVER_BEGAN });
    else if (run !== null) driver.adopt(run, (report) => this.#report(run, report));
    this.#resume();
    this.#arm();
  }

  send(event: AgentEvent): void {
    if (this.#isClosed) return;
    try {
      const type = typeOf(this.#record.type, this.#world);
      const step = nextOfAgent(this.#record, event, contextFor(this.#record, type, this.#world));
      if (step.record !== this.#record || step.effects.length > 0) this.#take(step, event, type);
    } catch (error) {
      this.#isClosed = true; // nothing is decided any more on top of half a step
      this.#world.fatal(error);
    }
  }

  /** Ends the alarm; the agent itself is not touched. */
  close(): void {
    this.#isClosed = true;
    this.#alarm?.abort();
  }

  #take(step: AgentStep, event: AgentEvent | null, type: AgentType | null): void {
    const { clock, failpoints, driver } = this.#world;
    const at = clock.wallNow();
    const now = clock.now();
    const wall = (mono: MonoMs) => (at - Math.max(0, now - mono)) as WallMs; // a death seen late is dated when it happened
    failpoints.hit('agent.before-commit');
    const { record, commit } = stepCommit({ before: this.#record, event, step, type, at, wall }, this.#world);
    this.#record = record;
    const released = step.effects.flatMap((effect) => (effect.kind === 'release' ? [effect.run] : []));
    const onDurable = () => {
      for (const run of released) driver.release(run);
    };
    this.#world.record({ ...commit, ...(released.length > 0 ? { onDurable } : {}) });
    failpoints.hit('agent.after-commit');
    for (const effect of step.effects) this.#perform(effect, type);
    this.#arm();
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
    if (state.killAt === null) driver.killTree(state.run);
    else driver.signal(state.run, stop.signal);
  }

  #report(run: RunId, report: RunReport): void {
    if (report.kind === 'shim-lost') {
      const { type, task } = this.#record;
      this.#world.log.warn('a shim was killed; its agent continues, but its exit code will be unknown', {
        type,
        task,
        run,
      });
    } else if (report.kind === 'started') {
      if (report.pid !== null) this.send({ kind: 'started', run, pid: report.pid, at: report.at });
    } else if (report.kind === 'exited' || report.kind === 'spawn-failed' || report.kind === 'tree-gone') {
      this.send({ ...report, run });
    }
  }

  /** One alarm at most, for the time the state itself names. */
  #arm(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    const { minUptimeMs } = typeOf(this.#record.type, this.#world) ?? WITHOUT_TYPE;
    const at = agentWakesAt(this.#record.state, { minUptimeMs });
    if (at === null || this.#isClosed) return;
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

function contextFor({ name }: Pick<AgentRecord, 'name'>, type: AgentType | null, world: AgentWorld): AgentContext {
  const { clock, random } = world;
  const wall = clock.wallNow();
  return {
    now: clock.now(),
    wall,
    bootId: clock.bootId,
    random: random(),
    newRun: runId(name, wall, random()),
    policy: type ?? WITHOUT_TYPE,
    maxRespawns: type === null ? 0 : world.spec().maxRespawns,
  };
}

// What one step of an agent writes into the history: its record, its events, the begin or the end of a run, the crash.

export interface StepFacts {
  readonly before: AgentRecord;
  readonly event: AgentEvent | null;
  readonly step: AgentStep;
  readonly type: AgentType | null;
  readonly at: WallMs;
  wall(mono: MonoMs): WallMs;
}

export interface StepCommit {
  /** With what the crash said. */
  readonly record: AgentRecord;
  readonly commit: Commit;
}

export const subjectOf = ({ type }: Pick<AgentRecord, 'type'>): Subject => ({ kind: 'agent', name: type });

export function stepCommit(facts: StepFacts, parts: KeepingParts): StepCommit {
  const { event, step, type, at } = facts;
  const { end } = step;
  const events = eventsOf(facts);
  const found = end?.crash ? crashOf(facts, end, parts) : null;
  const record = found === null ? step.record : { ...step.record, error: errorOf(found) };
  const started = step.effects.find((effect) => effect.kind === 'start');
  const base = {
    agents: [record],
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
  const { run, uptimeMs, planned, decision, rule, cause } = end;
  const common = { run, component: before.name, at: wall(end.at), uptimeMs, exit: exitView(cause) };
  // The last good run of everything with a name is kept for ever, and tasks are without end.
  return { ...common, planned, good: false, decision, rule };
}

function crashOf({ before, type, wall }: StepFacts, end: AgentEnd, parts: KeepingParts): NewCrash {
  const { run, uptimeMs, decision, rule, cause } = end;
  const exit = exitView(cause);
  const at = wall(end.at);
  const failures = before.respawns.length + 1;
  return {
    subject: subjectOf(before),
    ...{ run, at, uptimeMs, exit, decision, rule },
    counters: { ...FRESH, failures, total: before.respawns.length },
    restartsInWindow: before.respawns.length,
    ...parts.evidence(before, type, exit, at),
    dependencies: [],
    probes: [],
    agentType: before.type,
    taskId: before.task,
    ...(before.pid === null ? {} : { pid: before.pid }),
  };
}

/** "ImportError: cannot import name …", or what is known instead. */
const errorOf = ({ errorType, errorMessage, rootCause }: NewCrash): string | null =>
  errorType !== null && errorMessage !== null
    ? `${errorType}: ${errorMessage}`
    : (errorMessage ?? errorType ?? rootCause);
