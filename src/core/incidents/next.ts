/** How an incident goes on: opened by the first crash, counted, resolved by a recovery, reopened by a regression. Pure. */
import type { WallMs } from '../ids.ts';
import type { Subject } from '../views.ts';
import { type Incident, subjectKey } from './incident.ts';

/** Something that went wrong, as far as incidents care. */
export interface Trouble {
  readonly fingerprint: string;
  readonly taskId: string | null;
  readonly subject: Subject;
  /** Which one it is: the same trouble found twice counts once. Null: every one counts. */
  readonly run: string | null;
  readonly at: WallMs;
  readonly title: string;
  readonly rootCause: string | null;
}

export type IncidentChange = 'opened' | 'counted' | 'reopened' | 'known';

export const RECENT_MS = 24 * 3_600_000;
const MAX_RECENT = 200;
const MAX_COUNTED = 50;
const MAX_SUBJECTS = 100;
const MAX_AFFECTED = 200;

type OfRun = Pick<Trouble, 'subject' | 'run'>;

const runKey = ({ subject, run }: OfRun): string => `${subjectKey(subject)} ${run}`;

/** The incident with this trouble counted in. `existing`: the newest one with the same fingerprint and task. */
export function troubled(
  existing: Incident | null,
  trouble: Trouble,
  nextId: number,
): { readonly incident: Incident; readonly change: IncidentChange } {
  if (existing === null) return { incident: opened(trouble, nextId), change: 'opened' };
  if (trouble.run !== null && existing.counted.includes(runKey(trouble)))
    return { incident: existing, change: 'known' };
  const { foldedInto: _, ...own } = existing;
  const key = subjectKey(trouble.subject);
  const isNew = !existing.subjects.some((subject) => subjectKey(subject) === key);
  const wasResolved = existing.state === 'resolved';
  const incident: Incident = {
    ...own,
    state: 'open',
    subjects: isNew ? [...existing.subjects, trouble.subject].slice(0, MAX_SUBJECTS) : existing.subjects,
    rootCause: existing.rootCause ?? trouble.rootCause,
    lastAt: trouble.at,
    resolvedAt: null,
    count: existing.count + 1,
    recent: recentAfter(existing.recent, trouble.at),
    reopened: existing.reopened + (wasResolved ? 1 : 0),
    affected: wasResolved ? [] : existing.affected,
    waiting: [...existing.waiting.filter((each) => each !== key), key].slice(-MAX_SUBJECTS),
    counted: countedAfter(existing.counted, trouble),
  };
  return { incident, change: wasResolved ? 'reopened' : 'counted' };
}

function opened(trouble: Trouble, id: number): Incident {
  const { fingerprint, taskId, subject, title, rootCause, at } = trouble;
  return {
    ...{ id, fingerprint, taskId, subject, title, rootCause },
    subjects: [subject],
    state: 'open',
    openedAt: at,
    lastAt: at,
    resolvedAt: null,
    count: 1,
    recent: [at],
    affected: [],
    reopened: 0,
    ticket: null,
    waiting: [subjectKey(subject)],
    counted: countedAfter([], trouble),
  };
}

const countedAfter = (counted: readonly string[], trouble: OfRun): readonly string[] =>
  trouble.run === null ? counted : [...counted, runKey(trouble)].slice(-MAX_COUNTED);

/** The crash that this run ends in is the same trouble, and does not count again. */
export const alsoKnownBy = (incident: Incident, subject: Subject, run: string): Incident => ({
  ...incident,
  counted: countedAfter(incident.counted, { subject, run }),
});

/** A clock that was set back leaves times of the future behind: they are of no use any more. */
const recentAfter = (recent: readonly WallMs[], at: WallMs): readonly WallMs[] =>
  [...recent.filter((each) => each > at - RECENT_MS && each <= at + RECENT_MS), at].slice(-MAX_RECENT);

/** A dependent was taken along: it is named, and nothing else changes. The same incident: it was known already. */
export function alsoAffected(incident: Incident, trouble: Trouble): Incident {
  const { name } = trouble.subject;
  const key = runKey(trouble);
  if (incident.affected.includes(name) && incident.counted.includes(key)) return incident;
  const affected = incident.affected.includes(name) ? incident.affected : [...incident.affected, name];
  return {
    ...incident,
    affected: affected.slice(0, MAX_AFFECTED),
    counted: countedAfter(incident.counted, trouble),
  };
}

/** The subject is well again; resolved when nobody is left. The same incident: it did not wait for this one. */
export function recovered(incident: Incident, subject: Subject, at: WallMs): Incident {
  const key = subjectKey(subject);
  if (incident.state === 'resolved' || !incident.waiting.includes(key)) return incident;
  const waiting = incident.waiting.filter((each) => each !== key);
  return waiting.length > 0 ? { ...incident, waiting } : { ...incident, waiting, state: 'resolved', resolvedAt: at };
}

/** It was the first sign of another one. */
export const foldedInto = (incident: Incident, root: Incident, at: WallMs): Incident => ({
  ...incident,
  state: 'resolved',
  resolvedAt: at,
  waiting: [],
  foldedInto: root.id,
});
