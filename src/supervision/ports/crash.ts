/** A crash as it is written into the history, by whoever saw it. */

import type { ExitView } from '../../base/pure/exit.ts';
import type { RunId, WallMs } from '../../base/pure/ids.ts';
import type { ProbeStretch } from '../rules/health/stretch.ts';
import type { Counters, Rule } from '../rules/lifecycle/state.ts';
import type { Simulation } from '../rules/simulation.ts';
import type { EarlierError, FreezeView, Subject, WhyView } from '../rules/views.ts';

/** What is found out about a crash beyond its exit: from its output, mostly. */
type Found =
  | 'logTail'
  | 'changedSinceGood'
  | 'errorType'
  | 'errorMessage'
  | 'rootCause'
  | 'fingerprint'
  | 'stack'
  | 'relatedFiles'
  | 'earlier';

export type Evidence = Pick<NewCrash, Found>;

/** A crash that is still to be explained: all that could not be found out later, and where in the log to look. */
export interface Unexplained extends Omit<NewCrash, Found> {
  /** The position behind the last byte it wrote; what follows is of the next run. */
  readonly logEnd: number;
}

export interface NewCrash {
  readonly subject: Subject;
  readonly run: RunId;
  readonly at: WallMs;
  readonly uptimeMs: number;
  readonly exit: ExitView;
  readonly decision: string;
  readonly rule: Rule;
  readonly counters: Counters;
  readonly restartsInWindow: number;
  readonly logTail: readonly string[];
  readonly dependencies: WhyView['dependencies'];
  /** Null: there is no good run to compare with. */
  readonly changedSinceGood: readonly string[] | null;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  readonly rootCause: string | null;
  /** Absent: of a crash that was recorded before there was one. */
  readonly fingerprint?: string;
  /** The lines of the error it died of; absent or empty: its output shows none. */
  readonly stack?: readonly string[];
  readonly relatedFiles?: readonly string[];
  /** An error that it had written before it died of something else; absent or null: none. */
  readonly earlier?: EarlierError | null;
  /** Its probes' answers before the end, oldest first. */
  readonly probes: readonly ProbeStretch[];
  /** Absent: its heartbeat was not overdue. */
  readonly freeze?: FreezeView;
  /** The number of its incident; absent: of a crash that was recorded before there were any. */
  readonly incident?: number;
  /** Agents only. */
  readonly agentType?: string;
  readonly taskId?: string;
  readonly pid?: number;
  /** Somebody asked for it. */
  readonly simulated?: Simulation;
}
