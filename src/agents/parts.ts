/** What agents need from the world around them. */
import type { ExitView, SpawnProblem } from '../base/pure/exit.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Recorder } from '../history/ports.ts';
import type { Incidents } from '../incidents/ports.ts';
import type { RunnerWorld } from '../supervision/component-runner.ts';
import type { HeartWorld } from '../supervision/heartbeat/heart-watch.ts';
import type { ProcessDriver, ProcessLaunch } from '../supervision/ports/driver.ts';
import type { Sampler } from '../supervision/ports/sampler.ts';
import type { NewCrash, RunBegun } from '../supervision/ports/store.ts';
import type { AgentRecord, AgentType } from './spec.ts';

/** What a crash tells beyond its exit. */
export type AgentEvidence = Pick<
  NewCrash,
  | 'logTail'
  | 'changedSinceGood'
  | 'errorType'
  | 'errorMessage'
  | 'rootCause'
  | 'fingerprint'
  | 'stack'
  | 'relatedFiles'
  | 'earlier'
>;

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
  evidence(record: AgentRecord, type: AgentType | null, exit: ExitView, at: WallMs): AgentEvidence;
  /** A step failed half-way: this process must end, agents go on, the next daemon finds the truth on disk. */
  fatal(error: unknown): void;
}
