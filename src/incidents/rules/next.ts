/** How an incident goes on: opened by the first crash, counted, resolved by a recovery, reopened by a regression. Pure. */
import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import { shortHash } from '../../base/pure/hash.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import { endedAfter } from '../../crashes/rules/earlier.ts';
import { normalise } from '../../crashes/rules/normalise.ts';
import { markSimulated, SIMULATED_TITLE, type Simulation } from '../../supervision/rules/simulation.ts';
import { freezeFingerprint } from '../../supervision/rules/unwell.ts';
import type { EarlierError, FreezeView, Subject } from '../../supervision/rules/views.ts';
import { type Incident, isSubjectOf, memberKey, subjectKey } from './incident.ts';

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
  /** Nothing crashed. */
  readonly unwell?: true;
}

export type IncidentChange = 'opened' | 'counted' | 'reopened' | 'known';

export const RECENT_MS = 24 * 3_600_000;
const MAX_RECENT = 200;
const MAX_COUNTED = 200;
const MAX_SUBJECTS = 500;
const MAX_TASKS = 500;
const MAX_AFFECTED = 500;
const MAX_WAITING = 1_500;

type OfRun = Pick<Trouble, 'subject' | 'run'>;

const runKey = ({ subject, run }: OfRun): string => `${subjectKey(subject)} ${run}`;

const added = <T>(list: readonly T[], item: T, max: number): readonly T[] =>
  list.includes(item) || list.length >= max ? list : [...list, item];

/** The incident with this trouble counted in. `existing`: the newest one with the same fingerprint, or that of the same outage. */
export function troubled(
  existing: Incident | null,
  trouble: Trouble,
  nextId: number,
): { readonly incident: Incident; readonly change: IncidentChange } {
  if (existing === null) return { incident: opened(trouble, nextId), change: 'opened' };
  if (trouble.run !== null && existing.counted.includes(runKey(trouble)))
    return { incident: existing, change: 'known' };
  const wasResolved = existing.state === 'resolved';
  const { foldedInto: _, unwell, ...own } = wasResolved ? unhandled(existing) : existing;
  // What was only known as "not ready" has a better name now.
  const isNamedAnew = unwell === true && (wasResolved || trouble.unwell === undefined);
  const incident: Incident = {
    ...own,
    ...(unwell === true && trouble.unwell === true ? { unwell } : {}),
    state: 'open',
    title: isNamedAnew ? trouble.title : existing.title,
    rootCause: (isNamedAnew ? trouble.rootCause : null) ?? existing.rootCause ?? trouble.rootCause,
    subjects: isSubjectOf(existing, trouble.subject)
      ? existing.subjects
      : [...existing.subjects, trouble.subject].slice(0, MAX_SUBJECTS),
    tasks: trouble.taskId === null ? existing.tasks : added(existing.tasks, trouble.taskId, MAX_TASKS),
    lastAt: trouble.at,
    resolvedAt: null,
    count: existing.count + 1,
    recent: recentAfter(existing.recent, trouble.at),
    reopened: existing.reopened + (wasResolved ? 1 : 0),
    affected: wasResolved ? [] : existing.affected,
    waiting: added(existing.waiting, memberKey(trouble.subject, trouble.taskId), MAX_WAITING),
    counted: countedAfter(existing.counted, trouble),
  };
  return { incident, change: wasResolved ? 'reopened' : 'counted' };
}

function opened(trouble: Trouble, id: number): Incident {
  const { fingerprint, taskId, subject, title, rootCause, at } = trouble;
  return {
    ...{ id, fingerprint, subject, title, rootCause },
    ...(trouble.unwell === true ? { unwell: true } : {}),
    tasks: taskId === null ? [] : [taskId],
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
    waiting: [memberKey(subject, taskId)],
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

/**
 * A dependent went down with it, or cannot start because of it: it is named and waited for, and nothing else changes. The same
 * incident: it was known already.
 */
export function alsoAffected(incident: Incident, { subject, run }: OfRun): Incident {
  const isCounted = run === null || incident.counted.includes(runKey({ subject, run }));
  const affected = added(incident.affected, subject.name, MAX_AFFECTED);
  const waiting = added(incident.waiting, subjectKey(subject), MAX_WAITING);
  if (isCounted && affected === incident.affected && waiting === incident.waiting) return incident;
  const counted = isCounted ? incident.counted : countedAfter(incident.counted, { subject, run });
  return { ...incident, affected, waiting, counted };
}

/** The subject is well again; resolved when nobody is left. The same incident: it did not wait for this one. */
export function recovered(incident: Incident, subject: Subject, taskId: string | null, at: WallMs): Incident {
  const key = memberKey(subject, taskId);
  if (incident.state === 'resolved' || !incident.waiting.includes(key)) return incident;
  const waiting = incident.waiting.filter((each) => each !== key);
  return waiting.length > 0 ? { ...incident, waiting } : { ...incident, waiting, state: 'resolved', resolvedAt: at };
}

/** Somebody stopped it by hand: nobody waits for it, unless it crashed. That may happen again as soon as it is started. */
export const unwanted = (incident: Incident, subject: Subject, at: WallMs): Incident =>
  incident.unwell === true || !isSubjectOf(incident, subject) ? recovered(incident, subject, null, at) : incident;

/** Somebody is working on it: people are not reminded of it any more. The same incident: that was known. */
export const acknowledged = (incident: Incident, at: WallMs): Incident =>
  incident.acknowledgedAt === undefined ? { ...incident, acknowledgedAt: at } : incident;

/** Nobody is alerted about it until then; null: everybody is again. */
export function silenced(incident: Incident, until: WallMs | null): Incident {
  const { silencedUntil: _, ...heard } = incident;
  return until === null ? heard : { ...heard, silencedUntil: until };
}

/** What comes back after a recovery is news: whoever had taken it on believed it to be over. */
function unhandled({ acknowledgedAt: _, silencedUntil: __, ...incident }: Incident): Incident {
  return incident;
}

/** It was the first sign of another one. */
export const foldedInto = (incident: Incident, root: Incident, at: WallMs): Incident => ({
  ...incident,
  state: 'resolved',
  resolvedAt: at,
  waiting: [],
  foldedInto: root.id,
});

// An incident in one line: whose, and what.

const MAX_TITLE_CHARS = 200;
const CONTROL = /\p{Cc}+/gu;

interface Titled {
  readonly subject: Subject;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  readonly exit: ExitView;
  readonly earlier?: EarlierError | null;
  readonly simulated?: Simulation;
}

export function titleOf({ subject, errorType, errorMessage, exit, earlier, simulated }: Titled): string {
  const mark = simulated === undefined ? '' : SIMULATED_TITLE;
  // What it says while we end it is not why.
  if (exit.unhealthy !== null) return shortTitle(`${mark}${subject.name}: ${exit.unhealthy}`);
  const said = [errorType, errorMessage].filter((part) => part !== null && part !== '').join(': ');
  return shortTitle(
    `${mark}${subject.name}: ${said === '' ? `${describeExit(exit)}${endedAfter(exit, earlier)}` : said}`,
  );
}

/** One line, and not a long one. */
export function shortTitle(text: string): string {
  const line = text.replace(CONTROL, ' ').trim();
  return line.length > MAX_TITLE_CHARS ? `${line.slice(0, MAX_TITLE_CHARS - 1)}…` : line;
}

// Which incident a death belongs to, and what it is called. What we ended ourselves has our reason as its cause. Pure.

interface Death {
  readonly subject: Subject;
  readonly exit: ExitView;
  readonly fingerprint?: string;
  readonly rootCause: string | null;
  readonly freeze?: FreezeView;
  readonly simulated?: Simulation;
}

/**
 * Nothing that a program says when we end it tells why it had to be ended: a KeyboardInterrupt is our own SIGINT. `isFreezeOpen`:
 * a freeze of this fingerprint is known already, and whatever the run ends with, that is what it dies of.
 */
export function fingerprintOf(death: Death, isFreezeOpen: (fingerprint: string) => boolean): string {
  const { subject, exit, simulated } = death;
  const asTold = death.fingerprint ?? named(['end', subjectKey(subject), JSON.stringify(exit)]);
  if (subject.kind === 'session') return asTold;
  const marked = (fingerprint: string): string =>
    simulated === undefined
      ? fingerprint
      : markSimulated({ fingerprint, rootCause: null }, { ...simulated, memoryBytes: null }).fingerprint!;
  if (death.freeze !== undefined && !death.freeze.timeout) {
    const frozen = marked(
      subject.kind === 'component' ? freezeFingerprint(subject.name) : named(['frozen', subjectKey(subject)]),
    );
    if (exit.unhealthy !== null || isFreezeOpen(frozen)) return frozen;
  }
  return exit.unhealthy === null ? asTold : marked(named(['ended', subjectKey(subject), normalise(exit.unhealthy)]));
}

const named = (parts: readonly string[]): string => `v1:${shortHash(parts.join('\n'))}`;
