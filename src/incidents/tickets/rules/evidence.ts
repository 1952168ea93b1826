/** What a ticket is made of. A crash as it is recorded fits `CrashEvidence` as it is. */

import type { ExitView } from '../../../base/pure/exit.ts';
import type { WallMs } from '../../../base/pure/ids.ts';
import type { Rule } from '../../../supervision/rules/lifecycle/state.ts';
import type { Simulation } from '../../../supervision/rules/simulation.ts';
import type { EarlierError, FreezeView, Subject } from '../../../supervision/rules/views.ts';
import type { Priority, TicketCategory } from './ticket.ts';

export interface CrashEvidence {
  readonly subject: Subject;
  readonly at: WallMs;
  readonly uptimeMs: number;
  readonly exit: ExitView;
  readonly decision: string;
  readonly rule: Rule;
  readonly counters: { readonly spawnErrors: number };
  readonly logTail: readonly string[];
  readonly changedSinceGood: readonly string[] | null;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  readonly rootCause: string | null;
  readonly stack?: readonly string[];
  readonly relatedFiles?: readonly string[];
  readonly earlier?: EarlierError | null;
  readonly freeze?: FreezeView;
  readonly agentType?: string;
  readonly taskId?: string;
  /** Somebody asked for it. */
  readonly simulated?: Simulation;
}

/** Something that is wrong without a crash: a frozen loop, dead entries. */
export interface ProblemEvidence {
  readonly subject: Subject;
  /** The same problem has the same one. */
  readonly fingerprint: string;
  readonly title: string;
  readonly rootCause: string;
  readonly category: TicketCategory;
  /** Null: as the settings say. */
  readonly priority: Priority | null;
  readonly assignedTo: string | null;
  readonly evidence: readonly string[];
  readonly reproduction: readonly string[];
  readonly relatedFiles: readonly string[];
  /** Whose end is part of it; null or absent: that of none. */
  readonly run?: string | null;
  /** Somebody asked for it. */
  readonly simulated?: Simulation;
  /** Its ticket does not wait for a third time. */
  readonly atOnce: true;
}

export type Evidence =
  | { readonly kind: 'crash'; readonly crash: CrashEvidence }
  | { readonly kind: 'problem'; readonly problem: ProblemEvidence };

/** What is known about what crashed besides the crash. */
export interface Circumstances {
  /** How it was started; null: not by us, or not known. */
  readonly command: readonly string[] | null;
  readonly cwd: string | null;
  /** Of its agent type. */
  readonly assignedTo: string | null;
  /** Values that must never appear: those of its secret-looking variables. */
  readonly secrets?: readonly string[];
}

export const NO_CIRCUMSTANCES: Circumstances = { command: null, cwd: null, assignedTo: null };
