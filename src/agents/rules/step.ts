/** The words of an agent's steps: facts in, requests out, and how a run ended. */
import type { ExitCause, SignalName } from '../../base/pure/exit.ts';
import type { BootId, MonoMs, RunId, WallMs } from '../../base/pure/ids.ts';
import type { Freeze } from '../../supervision/rules/freeze/freeze.ts';
import type { ComponentEvent, Effect, Rule } from '../../supervision/rules/lifecycle/state.ts';
import type { AgentRecord, AgentState, AgentType } from '../spec.ts';

export type AgentEvent =
  | { readonly kind: 'started'; readonly run: RunId; readonly pid: number; readonly at: MonoMs }
  /** As of components. */
  | Extract<ComponentEvent, { kind: 'spawn-failed' | 'exited' | 'tree-gone' | LiveEventKind }>
  /** `again`: the daemon ends, and the next one brings it back. */
  | { readonly kind: 'stop'; readonly again: boolean }
  /** The machine was restarted since the record was written: nothing of it is alive. */
  | { readonly kind: 'rebooted' }
  | { readonly kind: 'woke' };

/** About a run that lives, and goes by the rules of components. */
type LiveEventKind = 'silent' | 'still-silent' | 'examined' | 'beat' | 'over-soft-memory' | 'probes-changed';

export type LiveEvent = Extract<AgentEvent, { kind: LiveEventKind | 'started' }>;

export type AgentEffect =
  | { readonly kind: 'start'; readonly run: RunId }
  | { readonly kind: 'signal'; readonly run: RunId; readonly signal: SignalName }
  | { readonly kind: 'kill'; readonly run: RunId }
  /** As of components. */
  | Extract<Effect, { kind: 'examine' }>
  /** All of the run is gone and recorded: its directory may go. */
  | { readonly kind: 'release'; readonly run: RunId }
  /** It is well: it finished, or outlived `min_uptime`. */
  | { readonly kind: 'recovered' }
  | { readonly kind: 'tell'; readonly type: AgentEventType; readonly data: Readonly<Record<string, unknown>> };

export type AgentEventType =
  | 'agent.spawned'
  | 'agent.started'
  | 'agent.finished'
  | 'agent.crashed'
  | 'agent.respawned'
  | 'agent.gave-up'
  | 'agent.stopping'
  | 'agent.stopped'
  | 'agent.unkillable'
  | 'agent.interrupted'
  | 'agent.leftovers'
  | 'agent.frozen'
  | 'agent.examined'
  | 'agent.thawed'
  | 'agent.timed-out'
  | 'agent.over-soft-memory';

/** How a run ended, and what was decided about it. */
export interface AgentEnd {
  readonly run: RunId;
  readonly at: MonoMs;
  readonly uptimeMs: number;
  readonly cause: ExitCause;
  /** Why we ended it by ourselves; null: we did not. */
  readonly unhealthy: string | null;
  /** It was silent, or had run too long, when it ended. */
  readonly freeze?: Freeze;
  readonly crash: boolean;
  readonly planned: boolean;
  readonly rule: Rule;
  readonly decision: string;
}

/** What of the type of an agent is looked at here. */
export type AgentPolicy = Pick<
  AgentType,
  'process' | 'stop' | 'backoff' | 'minUptimeMs' | 'neverOn' | 'heartbeat' | 'timeoutMs'
>;

export interface AgentContext {
  readonly now: MonoMs;
  readonly wall: WallMs;
  readonly bootId: BootId;
  /** In [0, 1). */
  readonly random: number;
  /** The id to use if this step begins a run. */
  readonly newRun: RunId;
  /** How its run is cannot be found out right now. */
  readonly blind?: boolean;
  readonly policy: AgentPolicy;
  readonly maxRespawns: number;
}

export interface AgentStep {
  readonly record: AgentRecord;
  readonly effects: readonly AgentEffect[];
  /** A run ended in this step; null: none did. */
  readonly end: AgentEnd | null;
}

export const runOfAgent = (state: AgentState): RunId | null => ('run' in state ? state.run : null);

export const same = (record: AgentRecord): AgentStep => ({ record, effects: [], end: null });

export const tell = (type: AgentEventType, data: Readonly<Record<string, unknown>> = {}): AgentEffect => ({
  kind: 'tell',
  type,
  data,
});

export const moved = (
  record: AgentRecord,
  state: AgentState,
  { bootId }: Pick<AgentContext, 'bootId'>,
  more: Partial<AgentRecord> = {},
): AgentRecord => ({ ...record, ...more, state, bootId });

export const wallOf = (at: MonoMs, { now, wall }: AgentContext): WallMs => (wall - Math.max(0, now - at)) as WallMs;

/** What is known by now about the respawn that this run was. */
export const judged = ({ respawns }: AgentRecord, run: RunId, helped: boolean | null): AgentRecord['respawns'] =>
  respawns.map((respawn) => (respawn.run === run && respawn.helped === null ? { ...respawn, helped } : respawn));
