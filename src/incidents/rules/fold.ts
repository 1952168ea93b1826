/** One incident for one cause: what goes down because something it depends on is down is no incident of its own. Pure. */
import type { ExitView } from '../../base/pure/exit.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import { type Graph, withDependencies } from '../../supervision/rules/graph.ts';
import type { Counters, Rule } from '../../supervision/rules/lifecycle/state.ts';
import { isSimulated } from '../../supervision/rules/simulation.ts';
import type { Subject } from '../../supervision/rules/views.ts';
import { type Incident, isAwaited, isSubjectOf, subjectKey } from './incident.ts';

/** A dependent may notice first: the connection breaks before we see the process end. */
export const LATE_MS = 10_000;

/** What a program says when the other side is gone. */
const OTHER_SIDE =
  /refused the connection|connection (?:refused|reset|closed|aborted|terminated|lost|is closed)|ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|broken pipe|ETIMEDOUT|timed? ?out|did not answer|nothing listens|could not connect|failed to connect|can(?:not|'t) connect|unavailable|end of file|\bEOF\b|hang ?up|could not be resolved/i;

/** All it depends on, directly or not. */
export function allDependencies(graph: Graph, name: string): ReadonlySet<string> {
  const all = new Set(withDependencies(graph, [name]));
  all.delete(name);
  return all;
}

const isDown = (incident: Incident, names: ReadonlySet<string>): boolean =>
  incident.waiting.some((key) => key.startsWith('component ') && names.has(key.slice('component '.length)));

/** Signals that programs are sent by others, and do not die of by a fault of their own. */
const SENT_BY_OTHERS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);
/** As a shell, or a JVM, tells of SIGKILL and SIGTERM. */
const CODES_OF_KILLS: readonly (number | null)[] = [137, 143];

/** Somebody killed it: neither we, nor the kernel for want of memory. */
export const isKilledByOthers = ({ signal, code, oom, unhealthy }: ExitView): boolean =>
  !oom && unhealthy === null && (signal === null ? CODES_OF_KILLS.includes(code) : SENT_BY_OTHERS.has(signal));

/**
 * The incident that a crash belongs to although it is another crash: that of something it depends on which has not recovered yet.
 * Null: it has a cause of its own. What was known as its own problem before stays so.
 */
export function rootOf(
  subject: Subject,
  own: Incident | null,
  open: Iterable<Incident>,
  graph: Graph,
): Incident | null {
  if (subject.kind !== 'component') return null;
  if (own !== null && isAwaited(own, subject)) return null;
  const dependencies = allDependencies(graph, subject.name);
  if (dependencies.size === 0) return null;
  let root: Incident | null = null;
  for (const incident of open) {
    if (incident.state !== 'open' || incident.id === own?.id || !isDown(incident, dependencies)) continue;
    if (root === null || incident.openedAt < root.openedAt) root = incident;
  }
  return root;
}

export interface Continued {
  readonly subject: Subject;
  readonly exit: ExitView;
  readonly rule: Rule;
  readonly counters: Counters;
}

/** It has not been well between this end and the one before. */
const isDownStill = ({ exit, rule, counters: { unhelped = 1, failures } }: Continued): boolean =>
  unhelped > 1 || rule === 'quiet-retry-failed' || (exit.spawn_error !== null && failures > 0);

/**
 * The incident of the outage that a crash is part of: a database that dies with one error and cannot come up with another is down
 * once. Null: it has been well in between, or nothing is open.
 */
export function outageOf(crash: Continued, open: Iterable<Incident>): Incident | null {
  const { subject } = crash;
  if (subject.kind !== 'component' || !isDownStill(crash)) return null;
  let outage: Incident | null = null;
  for (const incident of open) {
    if (incident.unwell === true || isSimulated(incident.rootCause)) continue;
    if (!isAwaited(incident, subject) || !isSubjectOf(incident, subject)) continue;
    if (outage === null || incident.openedAt < outage.openedAt) outage = incident;
  }
  return outage;
}

/**
 * Incidents that turn out to be first signs of this one: those of dependents, opened a moment ago and about the other side; and that
 * the subject itself was not well, before it died.
 */
export function firstSigns(
  root: Incident,
  subject: Subject,
  open: Iterable<Incident>,
  graph: Graph,
  now: WallMs,
): readonly Incident[] {
  if (subject.kind !== 'component') return [];
  const signs: Incident[] = [];
  for (const incident of open) {
    if (incident.id === root.id || incident.state !== 'open' || incident.ticket !== null) continue;
    const isOfItself =
      incident.unwell === true && incident.subjects.every((each) => subjectKey(each) === subjectKey(subject));
    if (isOfItself || isOfDependents(incident, subject, graph, now)) signs.push(incident);
  }
  return signs;
}

function isOfDependents(incident: Incident, subject: Subject, graph: Graph, now: WallMs): boolean {
  if (Math.abs(now - incident.openedAt) > LATE_MS || incident.reopened > 0) return false;
  const areDependents = incident.subjects.every(
    ({ kind, name }) => kind === 'component' && allDependencies(graph, name).has(subject.name),
  );
  return areDependents && OTHER_SIDE.test(`${incident.title}\n${incident.rootCause ?? ''}`);
}
