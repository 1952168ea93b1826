/** All agents of ours: spawned for a task, kept within the budget of that task, and taken over from earlier daemons. */

import { AppError } from '../base/pure/errors.ts';
import { after, type ComponentName, type RunId } from '../base/pure/ids.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import { BEATS_BATCH_MS } from '../supervision/heartbeat/beats.ts';
import { Journal } from '../supervision/journal.ts';
import type { HeartbeatView } from '../supervision/rules/views.ts';
import { UsageWatch } from '../supervision/usage/usage-watch.ts';
import { type AgentSupervisorParts, OneAgent } from './one-agent.ts';
import type { AgentRequest, Respawns } from './ports.ts';
import type { NewAgent } from './rules/next.ts';
import { runOfAgent } from './rules/step.ts';
import { agentName, checkHeartbeatTask, checkTask } from './rules/task.ts';
import type { AgentRecord, AgentsSpec, AgentType } from './spec.ts';

export interface OwnAgents extends Respawns {
  spawn(request: AgentRequest): AgentRecord;
  /** By pid or by task. Resolves when their processes are gone. */
  stop(which: string): Promise<readonly AgentRecord[]>;
  /** All that are remembered, in the order in which they were spawned. */
  records(): readonly AgentRecord[];
  /** How the heartbeat of its run stands; null: it has none, or does not run. */
  heartbeat(name: ComponentName): HeartbeatView | null;
  /** An agent says that it goes on. False: there is none of this name. Throws HEARTBEAT_NOT_BY_PING or AGENT_NOT_RUNNING. */
  beat(name: string): boolean;
  use(spec: AgentsSpec): void;
  /** Ends all that live. `again`: the next daemon brings them back. Resolves when all are gone. */
  stopAll(how: { readonly again: boolean }): Promise<void>;
  /** Those that ended before this are forgotten. */
  forget(names: ReadonlySet<ComponentName>): void;
  /** Lets go of everything; no agent is touched. */
  close(): void;
}

/** What SIGKILL does not end within this is waited for no longer, and told. */
const UNKILLABLE_MS = 10_000;

/** More than any one machine should run. */
export const MAX_AGENTS = 200;

/** Takes over what earlier daemons left, and begins what is due. */
export function superviseAgents(
  parts: AgentSupervisorParts,
  remembered: readonly AgentRecord[],
  spec: AgentsSpec,
): OwnAgents {
  const supervisor = new AgentSupervisor(parts, spec);
  supervisor.adopt(remembered);
  return supervisor;
}

class AgentSupervisor implements OwnAgents {
  readonly #parts: AgentSupervisorParts;
  readonly #agents = new Map<ComponentName, OneAgent>();
  readonly #waiting = new Set<() => void>();
  readonly #usage: UsageWatch;
  readonly #beats: Journal<ComponentName>;
  #spec: AgentsSpec;
  #isClosing = false;
  #isClosed = false;

  constructor(parts: AgentSupervisorParts, spec: AgentsSpec) {
    this.#parts = parts;
    this.#spec = spec;
    const { clock, random, sampler, record } = parts;
    this.#usage = new UsageWatch({
      ...{ clock, random, sampler },
      tell: (name, event) => this.#agents.get(name)?.send(event),
      write: () => {}, // only what they use now matters: whether it is too much
    });
    this.#beats = new Journal({
      ...{ clock, everyMs: BEATS_BATCH_MS, keyOf: (name: ComponentName) => name },
      write: (names) => record({ agents: names.flatMap((name) => this.#agents.get(name)?.written ?? []) }),
    });
  }

  /** Every run found on disk is accounted for: taken over, cleared away, or ended because nobody knows whose it is. */
  adopt(remembered: readonly AgentRecord[]): void {
    const { driver, isRecorded } = this.#parts;
    const found = new Set(driver.found().map(({ run }) => run));
    for (const record of remembered) this.#agents.set(record.name, new OneAgent(record, this.#world));
    const taken = new Set<RunId>();
    for (const agent of this.#agents.values()) {
      const run = runOfAgent(agent.record.state);
      if (run !== null) taken.add(run);
      if (!agent.isOver) agent.adopt(run !== null && found.has(run));
    }
    for (const run of found) {
      if (taken.has(run)) continue;
      if (isRecorded(run)) driver.release(run);
      else this.#endStray(run);
    }
  }

  spawn({ type, task }: AgentRequest): AgentRecord {
    this.#refuseWhenClosing();
    checkTask(task);
    const of = this.#type(type);
    if (!of) {
      const types = this.#spec.types.map(({ name }) => name);
      throw new AppError('NO_SUCH_AGENT_TYPE', { name: type, suggestion: didYouMean(type, types) });
    }
    checkHeartbeatTask(of.heartbeat, task);
    const name = agentName(type, task);
    const there = this.#agents.get(name);
    if (there && !there.isOver) {
      const { pid, state } = there.record;
      const shown = pid === null ? state.kind : `${state.kind}, pid ${pid}`;
      throw new AppError('AGENT_ALREADY_RUNNING', { type, task: JSON.stringify(task), state: shown });
    }
    const count = this.#active.length;
    if (count >= MAX_AGENTS) throw new AppError('AGENTS_FULL', { count, limit: MAX_AGENTS });
    return this.#begin({ name, type, task, isRespawn: false });
  }

  respawn({ type, task }: AgentRequest): ReturnType<Respawns['respawn']> {
    const none = (why: string) => ({ kind: 'none', why }) as const;
    if (this.#isClosing) return none('the daemon is ending');
    const of = this.#type(type);
    if (!of) return none(`there is no agent type "${type}"`);
    try {
      checkTask(task);
      checkHeartbeatTask(of.heartbeat, task);
    } catch (error) {
      return none((error as Error).message);
    }
    const name = agentName(type, task);
    const there = this.#agents.get(name);
    if (there && !there.isOver) return none('an agent of ours has the task already');
    const respawns = there?.record.respawns ?? [];
    const { maxRespawns } = this.#spec;
    if (respawns.length >= maxRespawns) return none(`the ${maxRespawns} respawns of its task are used up`);
    if (this.#active.length >= MAX_AGENTS) return none(`there are ${MAX_AGENTS} agents already`);
    this.#begin({ name, type, task, isRespawn: true });
    return { kind: 'respawned' };
  }

  async stop(which: string): Promise<readonly AgentRecord[]> {
    const meant = this.#find(which);
    for (const agent of meant) agent.send({ kind: 'stop', again: false });
    await this.#until(() => meant.every((agent) => agent.isOver));
    return meant.map(({ record }) => record);
  }

  records(): readonly AgentRecord[] {
    return [...this.#agents.values()].map(({ record }) => record).sort((a, b) => a.spawnedAt - b.spawnedAt);
  }

  heartbeat(name: ComponentName): HeartbeatView | null {
    return this.#agents.get(name)?.heartbeat ?? null;
  }

  beat(name: string): boolean {
    const agent = this.#agents.get(name as ComponentName);
    if (!agent) return false;
    if (this.#type(agent.record.type)?.heartbeat?.source.kind !== 'ping')
      throw new AppError('HEARTBEAT_NOT_BY_PING', { name });
    if (runOfAgent(agent.record.state) === null) throw new AppError('AGENT_NOT_RUNNING', { name });
    agent.beat();
    return true;
  }

  use(spec: AgentsSpec): void {
    const before = new Map(this.#spec.types.map((type) => [type.name, JSON.stringify(type)]));
    this.#spec = spec;
    for (const agent of this.#active) {
      const type = this.#type(agent.record.type);
      if (before.get(agent.record.type) !== (type && JSON.stringify(type))) agent.respec();
    }
  }

  async stopAll({ again }: { readonly again: boolean }): Promise<void> {
    this.#isClosing = true;
    for (const agent of this.#active) {
      agent.send({ kind: 'stop', again });
      agent.arm(); // what waits for its respawn waits for the next daemon
    }
    const areGone = await this.#until(() => this.#active.every(({ record }) => runOfAgent(record.state) === null));
    if (!areGone) this.#parts.log.warn('agents did not end, although SIGKILL was sent');
  }

  forget(names: ReadonlySet<ComponentName>): void {
    for (const name of names) {
      const agent = this.#agents.get(name);
      if (!agent?.isOver) continue;
      agent.close();
      this.#agents.delete(name);
    }
  }

  close(): void {
    this.#isClosing = true;
    this.#isClosed = true;
    this.#beats.close(); // while the agents still know what they have heard
    for (const agent of this.#agents.values()) agent.close();
    this.#usage.close();
    for (const look of this.#waiting) look();
  }

  get #active(): readonly OneAgent[] {
    return [...this.#agents.values()].filter((agent) => !agent.isOver);
  }

  get #world() {
    return {
      ...this.#parts,
      usage: this.#usage,
      spec: () => this.#spec,
      changed: () => this.#changed(),
      beaten: ({ record: { name } }: OneAgent) => this.#beats.note(name),
      isClosing: () => this.#isClosing,
    };
  }

  #type(name: string): AgentType | undefined {
    return this.#spec.types.find((type) => type.name === name);
  }

  #begin(about: Omit<NewAgent, 'before'>): AgentRecord {
    const before = this.#agents.get(about.name);
    before?.close();
    const agent = OneAgent.begin({ ...about, before: before?.record ?? null }, this.#world);
    this.#agents.set(about.name, agent);
    return agent.record;
  }

  /** A task may look like a pid: whoever has that task is meant then as well. */
  #find(which: string): readonly OneAgent[] {
    const all = [...this.#agents.values()];
    const isMeant = ({ record }: OneAgent) =>
      record.task === which || (record.pid !== null && String(record.pid) === which);
    const live = this.#active.filter(isMeant);
    const meant = live.length > 0 ? live : all.filter(({ record }) => record.task === which);
    if (meant.length === 0) throw new AppError('NO_SUCH_AGENT', { which });
    return meant;
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** False: they are still there, although SIGKILL was sent. */
  async #until(holds: () => boolean): Promise<boolean> {
    if (holds()) return true;
    const { clock } = this.#parts;
    const graceMs = Math.max(...this.#spec.types.map(({ stop }) => stop.graceMs), 0);
    const waiting = new AbortController();
    const tooLong = clock.sleepUntil(after(clock.now(), graceMs + UNKILLABLE_MS), waiting.signal).catch(() => {});
    let look = () => {};
    const done = new Promise<void>((resolve) => {
      look = () => {
        if (holds() || this.#isClosed) resolve();
      };
      this.#waiting.add(look);
    });
    await Promise.race([done, tooLong]);
    this.#waiting.delete(look);
    waiting.abort();
    return holds();
  }

  /** The record of it was lost, and with it the task: nobody could say what it is doing. */
  #endStray(run: RunId): void {
    const { driver, log } = this.#parts;
    log.warn('ending an agent that nobody remembers', { run });
    driver.adopt(run, (report) => {
      if (report.kind === 'started') driver.killTree(run);
      const isGone = (report.kind === 'exited' && report.leftovers.length === 0) || report.kind === 'tree-gone';
      if (isGone || report.kind === 'spawn-failed') driver.release(run);
      else if (report.kind === 'exited') driver.killTree(run);
    });
  }

  #refuseWhenClosing(): void {
    if (this.#isClosing) throw new AppError('DAEMON_CLOSING');
  }
}
