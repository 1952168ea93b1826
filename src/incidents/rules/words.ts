/** What people are told about an incident in one sentence: who, why, and whom it affects. Pure. */
import type { Incident } from './incident.ts';

const MAX_NAMED = 5;

/** "api, web, mail and 2 more" */
export function someOf(names: readonly string[], max = MAX_NAMED): string {
  const more = names.length - max;
  return `${names.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Everybody that it is about. An agent type is known by its tasks. */
export const whoOf = ({ subjects, tasks, affected }: Incident): readonly string[] => [
  ...new Set([
    ...subjects.filter(({ kind }) => kind !== 'agent' || tasks.length === 0).map(({ name }) => name),
    ...tasks.map((task) => `task ${task}`),
    ...affected,
  ]),
];

const areAwaited = (incident: Incident, names: readonly string[]): readonly string[] =>
  names.filter((name) => incident.waiting.includes(`component ${name}`));

/** `givenUp`: names of components that are no longer restarted. Null: none of them belongs to this incident. */
export function givenUpText(incident: Incident, givenUp: ReadonlySet<string>): string | null {
  const subjects = componentsOf(incident);
  const own = subjects.filter((name) => givenUp.has(name));
  if (own.length > 0) {
    const others = areAwaited(incident, subjects).filter((name) => !givenUp.has(name));
    return `${notRestarted(own)}${others.length === 0 ? '' : `; it also happens to ${someOf(others)}`}`;
  }
  const along = incident.affected.filter((name) => givenUp.has(name));
  if (along.length === 0) return null;
  const roots = subjects.length === 0 ? [incident.subject.name] : subjects;
  if (!isRootDown(incident)) return `${notRestarted(along)}; it went down with ${someOf(roots)}`;
  return `${someOf(roots)} ${roots.length === 1 ? 'is' : 'are'} down, and others with ${roots.length === 1 ? 'it' : 'them'}`;
}

const isRootDown = (incident: Incident): boolean => {
  const subjects = componentsOf(incident);
  return subjects.length === 0 || areAwaited(incident, subjects).length > 0;
};

const componentsOf = ({ subjects }: Incident): readonly string[] =>
  subjects.filter(({ kind }) => kind === 'component').map(({ name }) => name);

export const notRestarted = (names: readonly string[]): string =>
  names.length === 1
    ? `${names[0]} is down and no longer restarted`
    : `${someOf(names)} are down and no longer restarted`;

/** "; affected: api, web and 3 more". Once what it began with is well again, they are what it is about. */
export const affectedText = (incident: Incident): string =>
  incident.affected.length === 0 || !isRootDown(incident) ? '' : `; affected: ${someOf(incident.affected)}`;
