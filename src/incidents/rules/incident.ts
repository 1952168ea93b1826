/** An open problem with one root cause: all crashes with one fingerprint, whoever they are of, from the first to the recovery of all. */
import type { WallMs } from '../../base/pure/ids.ts';
import type { Subject } from '../../supervision/rules/views.ts';
import type { Handling } from '../alerts/rules/book.ts';

export type IncidentState = 'open' | 'resolved';

export interface Incident {
  readonly id: number;
  readonly fingerprint: string;
  /** Tasks of the agents that crashed with it, in the order they came; bounded. Of other subjects there are none. */
  readonly tasks: readonly string[];
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
  /** Components that depend on its subjects and went down with them, or cannot start because of them. */
  readonly affected: readonly string[];
  /** How often it came back after a recovery. */
  readonly reopened: number;
  /** The number of its ticket. */
  readonly ticket: number | null;
  /** Who has not recovered yet, subjects and affected alike, by `memberKey`. Empty: resolved. */
  readonly waiting: readonly string[];
  /** The runs counted last, and those of its dependents: a crash that is found again after our own death counts once. */
  readonly counted: readonly string[];
  /** It turned out to be a part of this incident; absent: it did not. */
  readonly foldedInto?: number;
  /** Nothing crashed: something is not well, and has been so for a while. Absent: something did. */
  readonly unwell?: true;
  /** When somebody said that they are working on it. Absent: nobody did since it opened. */
  readonly acknowledgedAt?: WallMs;
  /** Nobody is alerted about it before then. Absent: everybody is. */
  readonly silencedUntil?: WallMs;
}

export interface IncidentsQuery {
  readonly state?: IncidentState | undefined;
  readonly limit: number;
}

/** How much people want to hear of it; null: of what has no incident they want to hear everything. */
export const handlingOf = (incident: Incident | null, now: WallMs): Handling => ({
  isAcknowledged: incident?.acknowledgedAt !== undefined,
  silentMs: Math.max(0, (incident?.silencedUntil ?? now) - now),
});

export const subjectKey = ({ kind, name }: Subject): string => `${kind} ${name}`;

/** One who has to recover: each task of an agent type does so by itself. */
export const memberKey = (subject: Subject, taskId: string | null = null): string =>
  taskId === null ? subjectKey(subject) : `${subjectKey(subject)} ${taskId}`;

export const isSubjectOf = ({ subjects }: Incident, subject: Subject): boolean =>
  subjects.some((each) => subjectKey(each) === subjectKey(subject));

/** It crashed with this incident, or went down with it, and has not been well since. */
export const isAwaited = ({ state, waiting }: Incident, subject: Subject, taskId: string | null = null): boolean =>
  state === 'open' && waiting.includes(memberKey(subject, taskId));

/** Null: there is none, or more than one. */
export const onlyTask = ({ tasks }: Pick<Incident, 'tasks'>): string | null =>
  tasks.length === 1 ? (tasks[0] ?? null) : null;

/** As it was written before an incident could have several tasks. */
type Written = Omit<Incident, 'tasks'> & { readonly tasks?: readonly string[]; readonly taskId?: string | null };

export function fromRecord({ taskId = null, ...written }: Written): Incident {
  if (written.tasks !== undefined) return { ...written, tasks: written.tasks };
  if (taskId === null) return { ...written, tasks: [] };
  const awaited = (key: string) => (key === subjectKey(written.subject) ? memberKey(written.subject, taskId) : key);
  return { ...written, tasks: [taskId], waiting: written.waiting.map(awaited) };
}
