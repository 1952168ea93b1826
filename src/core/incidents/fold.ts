/** One incident for one cause: what goes down because something it depends on is down is no incident of its own. Pure. */
import { type Graph, withDependencies } from '../graph.ts';
import type { WallMs } from '../ids.ts';
import type { Subject } from '../views.ts';
import { type Incident, subjectKey } from './incident.ts';

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
  if (own?.state === 'open' && own.waiting.includes(subjectKey(subject))) return null;
  const dependencies = allDependencies(graph, subject.name);
  if (dependencies.size === 0) return null;
  let root: Incident | null = null;
  for (const incident of open) {
    if (incident.state !== 'open' || incident.id === own?.id || !isDown(incident, dependencies)) continue;
    if (root === null || incident.openedAt < root.openedAt) root = incident;
  }
  return root;
}

/** Incidents that turn out to be first signs of this one: opened a moment ago, only by dependents, about the other side. */
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
    const isFresh = Math.abs(now - incident.openedAt) <= LATE_MS && incident.reopened === 0 && incident.ticket === null;
    if (incident.id === root.id || incident.state !== 'open' || !isFresh) continue;
    const areDependents = incident.subjects.every(
      ({ kind, name }) => kind === 'component' && allDependencies(graph, name).has(subject.name),
    );
    if (areDependents && OTHER_SIDE.test(`${incident.title}\n${incident.rootCause ?? ''}`)) signs.push(incident);
  }
  return signs;
}
