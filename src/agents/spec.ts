/** An agent: a typed worker that is spawned for a task. What the configuration says about it, and what is written down about it. */

import type { ExitView, SignalName } from '../base/pure/exit.ts';
import type { BootId, ComponentName, MonoMs, RunId, WallMs } from '../base/pure/ids.ts';
import type { Freeze } from '../supervision/rules/freeze/freeze.ts';
import type { HeartbeatSpec } from '../supervision/rules/freeze/heartbeat.ts';
import type { StoredPulse } from '../supervision/rules/freeze/pulse.ts';
import type { In } from '../supervision/rules/lifecycle/state.ts';
import type { BackoffSpec, LimitsSpec, LogKeeping, ProcessSpec, StopSpec } from '../supervision/spec.ts';

/** What an agent of this type is started with, complete and checked. */
export interface AgentType {
  readonly name: string;
  /** `{task}` in it is filled at spawn and stays inside its one element. */
  readonly process: ProcessSpec;
  /** Who gets its tickets; null: nobody in particular. */
  readonly assignedTo: string | null;
  /** A respawn that lives longer helped. Exit code 0 before that is a success all the same. */
  readonly minUptimeMs: number;
  readonly stop: StopSpec;
  /** Between a crash and the respawn. */
  readonly backoff: BackoffSpec;
  /** Exit codes and signals after which it is not respawned. */
  readonly neverOn: readonly (number | SignalName)[];
  /** Null: nobody expects a sign of progress. `{task}` in the path of a file is filled at spawn. */
  readonly heartbeat: HeartbeatSpec | null;
  /** The longest life of one run; null: as long as it takes. */
  readonly timeoutMs: number | null;
  readonly limits: LimitsSpec;
  readonly logs: LogKeeping;
}

/** Where somebody else writes down which agents there are, and what the fields are called there. */
export interface StateFileSpec {
  /** Absolute. */
  readonly path: string;
  readonly fields: StateFileFields;
}

/** Names of keys; `agents` may be a path with dots. */
export interface StateFileFields {
  /** The map from pid to entry. */
  readonly agents: string;
  readonly agentType: string;
  readonly taskId: string;
  readonly startedAt: string;
}

/** What the configuration says about agents. */
export interface AgentsSpec {
  /** From one pass to the next. */
  readonly everyMs: number;
  /** Of one task. */
  readonly maxRespawns: number;
  /** The component that spawns them. */
  readonly loop: ComponentName | null;
  readonly types: readonly AgentType[];
  /** Agents that others start; null: there are none. */
  readonly stateFile: StateFileSpec | null;
}

/** finished: it ended with 0, its task is done. gave-up: its respawns are used up. stopped: somebody asked for it. */
export type AgentStateKind = 'starting' | 'running' | 'backing-off' | 'stopping' | 'finished' | 'stopped' | 'gave-up';

export type AgentState =
  /** Its run was asked for, and its process is not known yet. */
  | { readonly kind: 'starting'; readonly run: RunId }
  | {
      readonly kind: 'running';
      readonly run: RunId;
      readonly pid: number;
      readonly startedAt: MonoMs;
      /** It outlived `min_uptime`. */
      readonly lived: boolean;
      /** Its heartbeat is overdue, or its time is up. */
      readonly freeze?: Freeze;
    }
  | Pause
  | {
      readonly kind: 'stopping';
      readonly run: RunId;
      readonly pid: number | null;
      /** As of components. Absent, in records of earlier versions: killed, if there is no time for that. */
      readonly stage?: In<'stopping'>['stage'];
      /** When the next step is due: the stop signal, SIGKILL, SIGKILL once more. Null: in records of earlier versions. */
      readonly killAt: MonoMs | null;
      /** What comes when all of it is gone; null: we end it by ourselves, and what follows is decided at its end. */
      readonly after: Following | null;
      /** Its main process has ended and that was recorded; what is left is what it left behind. */
      readonly ended: boolean;
      /** Why we end it by ourselves: it is frozen, ran too long, or uses too much memory. */
      readonly unhealthy?: string;
      readonly freeze?: Freeze;
    }
  | { readonly kind: AgentEndState };

/** What comes after a run. */
export type Following = Pause | { readonly kind: AgentEndState };

/** The next start has its time. `counts`: it is a respawn after a crash; otherwise the end before was nobody's fault, or asked for. */
export interface Pause {
  readonly kind: 'backing-off';
  readonly until: MonoMs;
  readonly counts: boolean;
}

export type AgentEndState = 'finished' | 'stopped' | 'gave-up';

/** One respawn: when it began, and whether it helped; null: not known yet. */
export interface Respawn {
  readonly at: WallMs;
  readonly run: RunId;
  readonly helped: boolean | null;
}

/** What must outlive the daemon about the agent of one task. Times of its state count from `bootId`. */
export interface AgentRecord {
  /** Made from type and task, always the same: it names the log and the runs. */
  readonly name: ComponentName;
  readonly type: string;
  readonly task: string;
  readonly state: AgentState;
  readonly bootId: BootId;
  /** When somebody asked for it. */
  readonly spawnedAt: WallMs;
  /** When its present or last run began; null: none did yet. */
  readonly startedAt: WallMs | null;
  readonly endedAt: WallMs | null;
  /** Of the present or last run. */
  readonly pid: number | null;
  /** Since it was asked for, oldest first; never more than `max_respawns` allows. */
  readonly respawns: readonly Respawn[];
  /** Those of the last hour before it was asked for again: they do not count for the budget. */
  readonly earlier: readonly Respawn[];
  readonly lastExit: { readonly at: WallMs; readonly exit: ExitView } | null;
  /** "ImportError: …", of its last crash; null: it did not crash since it was asked for. */
  readonly error: string | null;
  /** How the heartbeat of its run stood a few seconds ago at most. */
  readonly pulse?: StoredPulse;
}

export const isOver = ({ kind }: AgentState): boolean =>
  kind === 'finished' || kind === 'stopped' || kind === 'gave-up';

export const NO_AGENTS: AgentsSpec = { everyMs: 0, maxRespawns: 0, loop: null, types: [], stateFile: null };
