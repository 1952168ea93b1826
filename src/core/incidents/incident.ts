/** An open problem with one root cause: all crashes with one fingerprint (of one task, for agents), from the first to the recovery. */
import type { WallMs } from '../ids.ts';
import type { Subject } from '../views.ts';

export type IncidentState = 'open' | 'resolved';

export interface Incident {
  readonly id: number;
  readonly fingerprint: string;
  /** Agents: two tasks that die alike are two incidents. */
  readonly taskId: string | null;
  /** Whose crash was the first. */
  readonly subject: Subject;
  /** All that crashed with it, in the order they came. */
  readonly subjects: readonly Subject[];
  readonly title: string;
  readonly rootCause: string | null;
  readonly state: IncidentState;
  readonly openedAt: WallMs;
  /** Of the last crash. */
  readonly lastAt: WallMs;
  readonly resolvedAt: WallMs | null;
  /** Of all crashes, also those before it was reopened. */
  readonly count: number;
  /** When it crashed in the last 24 hours, oldest first; bounded. */
  readonly recent: readonly WallMs[];
  /** Components that depend on its subjects and were taken along. */
  readonly affected: readonly string[];
  /** How often it came back after a recovery. */
  readonly reopened: number;
  /** The number of its ticket. */
  readonly ticket: number | null;
  /** Subjects that have not recovered yet, by `subjectKey`. Empty: resolved. */
  readonly waiting: readonly string[];
  /** The runs counted last, and those of its dependents: a crash that is found again after our own death counts once. */
  readonly counted: readonly string[];
  /** It turned out to be a part of this incident; absent: it did not. */
  readonly foldedInto?: number;
}

export interface IncidentsQuery {
  readonly state?: IncidentState | undefined;
  readonly limit: number;
}

export const subjectKey = ({ kind, name }: Subject): string => `${kind} ${name}`;
