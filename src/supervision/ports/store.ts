import type { ExitView } from '../../base/pure/exit.ts';
import type { BootId, ComponentName, RunId, WallMs } from '../../base/pure/ids.ts';
import type { StoredPulse } from '../rules/freeze/pulse.ts';
import type { ProbeStretch } from '../rules/health/stretch.ts';
import type { Component, Rule } from '../rules/lifecycle/state.ts';
import type { SampleStretch } from '../rules/usage/stretch.ts';
import type { EventView, Subject } from '../rules/views.ts';
import type { Evidence, NewCrash, Unexplained } from './crash.ts';

export type { Evidence, NewCrash, Unexplained };

export type Desired = 'running' | 'stopped';

/** What must outlive the daemon about one component. Times in `component` count from `bootId`. */
export interface ComponentRecord {
  readonly name: ComponentName;
  readonly desired: Desired;
  readonly bootId: BootId;
  readonly component: Component;
  readonly specHash: string;
  readonly lastRestart: { readonly at: WallMs; readonly reason: string } | null;
  /** `crash`: absent in records of earlier versions. */
  readonly lastExit: { readonly at: WallMs; readonly exit: ExitView; readonly crash?: boolean } | null;
  /** When the current run began, for people. */
  readonly startedAt: WallMs | null;
  /** How its heartbeat stood a few seconds ago at most. */
  readonly pulse?: StoredPulse;
  /** Its last crash, while its next run is already being begun and the evidence is not gathered yet. */
  readonly unexplained?: Unexplained;
}

export interface NewEvent {
  readonly at: WallMs;
  readonly subject: Subject;
  readonly type: string;
  readonly run: RunId | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface RunBegun {
  readonly run: RunId;
  readonly component: ComponentName;
  readonly at: WallMs;
  readonly specHash: string;
  /** What the run was made of, by name: used to say what changed since the last good run. Values are hashes, never plain. */
  readonly ingredients: Readonly<Record<string, string>>;
  /** The position at which its output begins in the component's log (see src/logs/format.ts); null: it has no log of ours. */
  readonly logOffset: number | null;
}

export interface RunEnded {
  readonly run: RunId;
  readonly component: ComponentName;
  readonly at: WallMs;
  readonly uptimeMs: number;
  readonly exit: ExitView;
  readonly planned: boolean;
  /** It did not crash: what it was made of is worth comparing a later crash with. */
  readonly good: boolean;
  readonly decision: string;
  readonly rule: Rule;
}

export interface SampleQuery {
  readonly component: string;
  /** Only what goes on at or after this time. */
  readonly since?: WallMs;
  readonly limit: number;
}

/** What one step of one component changes: written in one transaction, or kept and written later. */
export interface ComponentCommit {
  readonly record?: ComponentRecord;
  readonly runBegun?: RunBegun;
  readonly runPid?: { readonly run: RunId; readonly pid: number };
  readonly runEnded?: RunEnded;
  readonly crash?: NewCrash;
  readonly events?: readonly NewEvent[];
  /** Written over the stretch with the same run, role and first time. */
  readonly probed?: readonly ProbeStretch[];
  /** Written over the stretch with the same run and first time. */
  readonly sampled?: readonly SampleStretch[];
  /** It is acted on before it is on the disk: what a power cut would take of it, it takes of what was done, too. */
  readonly syncLater?: boolean;
  /** Called once the commit is safely on disk: at once normally, later with `syncLater` and when the disk was full. */
  readonly onDurable?: () => void;
}

export interface RunRow {
  readonly run: RunId;
  readonly component: ComponentName;
  readonly begunAt: WallMs;
  readonly endedAt: WallMs | null;
  readonly pid: number | null;
  readonly exit: ExitView | null;
  readonly planned: boolean | null;
  /** It did not crash; null: it has not ended. */
  readonly good: boolean | null;
  /** What its end led to, and the rule that said so. */
  readonly decision: string | null;
  readonly rule: string | null;
  readonly logOffset: number | null;
}

/** What supervision itself reads and writes of the history. */
export interface ComponentStore {
  components(): readonly ComponentRecord[];
  run(run: RunId): RunRow | null;
  /** What a component used, newest first. */
  samples(query: SampleQuery): readonly SampleStretch[];
  /** Writes them in order, together as far as the disk lets us. Returns the events with their sequence numbers. Never throws. */
  commit(...commits: readonly ComponentCommit[]): readonly EventView[];
  /** Removes the record of a component that the configuration no longer names; its history stays. */
  forget(component: ComponentName): void;
}
