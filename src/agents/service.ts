/** Agents in the daemon: ours, those of others, the loop that spawns them, and the passes over all of them. */

import { readdirSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/pure/errors.ts';
import type { WallMs } from '../base/pure/ids.ts';
import { readAnyProcStat } from '../drivers/process/proc.ts';
import { type Incident, isAwaited } from '../incidents/rules/incident.ts';
import type { ProcessDriver } from '../supervision/ports/driver.ts';
import type { CrashView } from '../supervision/rules/views.ts';
import { hasPast, type Ours, type OursParts, openOurs } from './ours.ts';
import { PassLoop } from './pass-loop.ts';
import type { Agents, AgentsQuery, LoopFindings, OthersFindings, PassPart, Respawns } from './ports.ts';
import { agentsReport, crashIssue, HOUR_MS, isFixed, type RecentCrash } from './rules/report.ts';
import {
  type AgentIssue,
  type AgentsCheckView,
  type AgentsReportView,
  type AgentView,
  agentView,
} from './rules/views.ts';
import type { AgentRecord, AgentsSpec } from './spec.ts';

export interface AgentsParts extends OursParts {
  /** Those who look after agents of others get this to bring them back. */
  others(respawns: Respawns): PassPart<OthersFindings>;
  readonly loop: PassPart<LoopFindings>;
}

export interface DaemonAgents extends Agents {
  /** An agent of ours says that it goes on. False: there is none of this name. Throws HEARTBEAT_NOT_BY_PING or AGENT_NOT_RUNNING. */
  beat(name: string): boolean;
  /** Of the runs of ours, for whoever simulates that one hangs. */
  readonly runs: Pick<ProcessDriver, 'signal' | 'survivors'>;
  use(spec: AgentsSpec): void;
  /** Ends all of ours. `again`: the next daemon brings them back. */
  stopAll(how: { readonly again: boolean }): Promise<void>;
  /** Lets go of everything; no agent is touched. */
  close(): Promise<void>;
}

const MAX_CRASHES = 1_000;
/** Once in so many passes, what the history has forgotten is cleared away. */
const TIDY_PASSES = 120;

export async function openAgents(parts: AgentsParts): Promise<DaemonAgents> {
  const agentService = new AgentService(parts);
  await agentService.open(parts.config().agents);
  return agentService;
}

class AgentService implements DaemonAgents {
  readonly #parts: AgentsParts;
  readonly #others: PassPart<OthersFindings>;
  readonly #passLoop: PassLoop;
  #spec: AgentsSpec;
  /** Null: nobody needs them yet. */
  #opening: Promise<Ours> | null = null;
  #ours: Ours | null = null;
  #isClosing = false;
  #passCount = 0;
  /** The highest number of a ticket at the last pass. */
  #lastTicket: number;

  constructor(parts: AgentsParts) {
    this.#parts = parts;
    this.#spec = parts.config().agents;
    this.#lastTicket = parts.store.lastNumber('ticket');
    this.#others = parts.others({
      respawn: (request) => this.#ours?.agents.respawn(request) ?? { kind: 'none', why: 'there is no agent type' },
    });
    this.#passLoop = new PassLoop({
      ...{ clock: systemClock, log: parts.log, others: this.#others, loop: parts.loop },
      ours: () => this.#lookAtOurs(),
      since: (at) => this.#since(at),
      summary: () => ({ status: this.report().status, activeAgents: this.#active }),
      write: (healthCheck) => parts.record({ healthCheck }),
    });
  }

  async open(spec: AgentsSpec): Promise<void> {
    if (spec.types.length > 0 || hasPast(this.#parts)) await this.#open();
    this.use(spec);
  }

  use(spec: AgentsSpec): void {
    this.#spec = spec;
    if (spec.types.length > 0 && this.#opening === null)
      this.#open().catch((error: unknown) => this.#parts.log.error('agents cannot be kept', { error: String(error) }));
    this.#ours?.agents.use(spec);
    this.#others.use(spec);
    this.#parts.loop.use(spec);
    this.#passLoop.set(spec.everyMs);
  }

  async spawn(request: Parameters<Agents['spawn']>[0]): Promise<AgentView> {
    const { agents } = await this.#needed(request.type);
    this.#refuseTaken(request);
    return this.#view(agents.spawn(request));
  }

  async stop(which: string): Promise<readonly AgentView[]> {
    const isMeant = ({ pid, task_id: task }: AgentView) => String(pid) === which || task === which;
    const live = this.list().filter(isMeant);
    // One of ours that had the task before is no answer while somebody else works on it.
    if (live.length > 0 && live.every(({ source }) => source === 'state-file'))
      throw new AppError('AGENT_NOT_OURS', { which, file: this.#spec.stateFile?.path ?? 'its state file' });
    if (this.#ours === null) throw new AppError('NO_SUCH_AGENT', { which });
    return (await this.#ours.agents.stop(which)).map((record) => this.#view(record));
  }

  list({ all = false }: AgentsQuery = {}): readonly AgentView[] {
    const ours = this.#records.map((record) => this.#view(record)).filter((view) => all || !OVER.has(view.state));
    return [...ours, ...this.#passLoop.last.others];
  }

  report(): AgentsReportView {
    const { issues, isLoopFrozen, lastPollAgeSeconds } = this.#passLoop.last;
    const at = systemClock.wallNow();
    const crashes = this.#crashesSince((at - HOUR_MS) as WallMs);
    const records = this.#records;
    return agentsReport({ records, active: this.#active, crashes, issues, isLoopFrozen, lastPollAgeSeconds, at });
  }

  async check(since?: string): Promise<AgentsCheckView> {
    const from = since ?? new Date(systemClock.wallNow()).toISOString();
    await this.#passLoop.now();
    const crashes = this.#crashesSince(Math.max(Date.parse(from), systemClock.wallNow() - HOUR_MS) as WallMs);
    const respawned = crashes.map(crashIssue).filter(isFixed);
    return { ...this.report(), fixed: [...respawned, ...this.#passLoop.fixedSince(from)] };
  }

  beat(name: string): boolean {
    return this.#ours?.agents.beat(name) ?? false;
  }

  readonly runs: DaemonAgents['runs'] = {
    signal: (run, signal) => this.#ours?.driver.signal(run, signal),
    survivors: (run) => this.#ours?.driver.survivors(run) ?? Promise.resolve([]),
  };

  async stopAll(how: { readonly again: boolean }): Promise<void> {
    this.#isClosing = true;
    await (await this.#opening)?.agents.stopAll(how);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([this.#passLoop.close(), this.#others.close(), this.#parts.loop.close()]);
    await (await this.#opening)?.close();
  }

  #refuseTaken({ type, task }: Parameters<Agents['spawn']>[0]): void {
    const taken = this.#passLoop.last.others.find(
      (agent) => agent.agent_type === type && agent.task_id === task && agent.state === 'running',
    );
    if (!taken) return;
    const state = `running, pid ${taken.pid}, started by somebody else`;
    throw new AppError('AGENT_ALREADY_RUNNING', { type, task: JSON.stringify(task), state });
  }

  #open(): Promise<Ours> {
    this.#opening ??= openOurs(this.#parts, this.#spec).then((ours) => {
      ours.agents.use(this.#spec);
      this.#ours = ours;
      return ours;
    });
    return this.#opening;
  }

  async #needed(type: string): Promise<Ours> {
    if (this.#isClosing) throw new AppError('DAEMON_CLOSING');
    if (this.#spec.types.length === 0) throw new AppError('NO_SUCH_AGENT_TYPE', { name: type, suggestion: '' });
    return await this.#open();
  }

  get #records(): readonly AgentRecord[] {
    return this.#ours?.agents.records() ?? [];
  }

  get #active(): number {
    const ours = this.#records.filter(({ state }) => state.kind === 'running' || state.kind === 'starting').length;
    return ours + this.#passLoop.last.others.filter(({ state }) => state === 'running').length;
  }

  #view(record: AgentRecord): AgentView {
    const instant = { now: systemClock.now(), wall: systemClock.wallNow() };
    return agentView(record, this.#spec, instant, this.#ours?.agents.heartbeat(record.name) ?? null);
  }

  /** Newest first. */
  #crashesSince(since: WallMs): readonly RecentCrash[] {
    const { store } = this.#parts;
    return store.crashes({ kind: 'agent', since, limit: MAX_CRASHES }).map((crash) => ({
      crash,
      resolved: hasRecovered(crash, crash.incident === null ? null : store.incident(crash.incident)),
    }));
  }

  #since(at: WallMs) {
    const crashes = this.#crashesSince(at);
    const actions = crashes
      .filter(({ crash }) => crash.decision.startsWith('respawn'))
      .map(({ crash }) => `respawned ${crash.agent_type} for ${crash.task_id}`);
    return { crashes: crashes.length, actions, bugs: this.#newTickets(crashes) };
  }

  /** Of these crashes, and not counted by a pass before. */
  #newTickets(crashes: readonly RecentCrash[]): readonly number[] {
    const { store } = this.#parts;
    const incidents = new Set(crashes.flatMap(({ crash }) => crash.incident ?? []));
    const last = this.#lastTicket;
    const filed = [...incidents].flatMap((id) => store.incident(id)?.ticket ?? []).filter((number) => number > last);
    this.#lastTicket = store.lastNumber('ticket');
    return filed;
  }

  async #lookAtOurs(): Promise<{ issues: readonly AgentIssue[]; zombies: number }> {
    const ours = this.#ours;
    if (ours === null) return { issues: [], zombies: 0 };
    if (this.#passCount++ % TIDY_PASSES === 0) ours.tidy();
    const left = ours.agents.records().filter(({ state }) => state.kind === 'stopping' && state.ended);
    const zombies = zombiesOf(new Set((await ours.processes()).map(({ pid }) => pid)));
    const common = { agent_type: null, task_id: null, bug_reported: false, bug_number: null, at: null } as const;
    return {
      zombies: zombies.length,
      issues: [
        ...zombies.map(({ pid, name, parent }) => ({
          ...{ ...common, type: 'zombie_process' as const, agent_pid: pid, action_taken: 'none' },
          error: `${name} (${pid}) has ended, and its parent ${parent} does not ask how`,
        })),
        ...left.map(({ type, task }) => ({
          ...{ ...common, type: 'orphan_process' as const, agent_pid: null, agent_type: type, task_id: task },
          error: 'it ended and left processes behind',
          action_taken: 'ending them',
        })),
      ],
    };
  }
}

const OVER: ReadonlySet<AgentView['state']> = new Set(['finished', 'stopped', 'gave-up']);

/** Its task is well again, although others with the same cause may not be. */
const hasRecovered = ({ subject, task_id }: CrashView, incident: Incident | null): boolean =>
  incident !== null && !isAwaited(incident, subject, task_id);

// Processes that have ended and whose parent, a process of an agent, does not ask how: the kernel keeps them until it does.

export interface Zombie {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

/** Children of these that are zombies. One look through /proc, and none when nobody asks. Throws when it cannot be looked through just now. */
export function zombiesOf(parents: ReadonlySet<number>): readonly Zombie[] {
  if (parents.size === 0) return [];
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  return pids.flatMap((pid) => {
    const stat = readAnyProcStat(pid);
    return stat && stat.state === 'Z' && parents.has(stat.ppid) ? [{ pid, parent: stat.ppid, name: stat.name }] : [];
  });
}
