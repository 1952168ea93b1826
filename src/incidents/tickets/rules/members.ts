/** Who a ticket is about: everybody that crashed with its cause is named, and whoever joins later is news. Pure. */

import type { Subject } from '../../../supervision/rules/views.ts';
import { type Incident, subjectKey } from '../../rules/incident.ts';
import { cleanLine } from './text.ts';
import type { Ticket } from './ticket.ts';

/** Names and tasks may be anything that somebody once typed. */
export const MAX_NAME_CHARS = 200;
const MAX_NEWS = 500;

export type Members = Pick<Ticket, 'subjects' | 'tasks' | 'affected'>;

/** `known`: values that must never appear. */
export function membersOf({ subjects, tasks, affected }: Incident, known: readonly string[] = []): Members {
  const clean = (name: string) => cleanLine(name, MAX_NAME_CHARS, known);
  return {
    subjects: subjects.map(({ kind, name }) => ({ kind, name: clean(name) })),
    tasks: tasks.map(clean),
    affected: affected.map(clean),
  };
}

/** The ticket with everybody of the incident in it; whoever was not there is news. The same ticket: all were. */
export function withMembers(ticket: Ticket, members: Members): Ticket {
  const keys = new Set(ticket.subjects.map(subjectKey));
  const subjects = members.subjects.filter((subject) => !keys.has(subjectKey(subject)));
  const tasks = members.tasks.filter((task) => !ticket.tasks.includes(task));
  const affected = members.affected.filter((name) => !ticket.affected.includes(name));
  if (subjects.length + tasks.length + affected.length === 0) return ticket;
  // An agent type is known by its tasks.
  const named = subjects.filter(({ kind }) => kind !== 'agent' || tasks.length === 0).map(({ name }) => name);
  const news = [...named, ...tasks.map(taskName), ...affected.map((name) => `${name} (affected)`)];
  return {
    ...ticket,
    subjects: [...ticket.subjects, ...subjects],
    tasks: [...ticket.tasks, ...tasks],
    affected: [...ticket.affected, ...affected],
    news: [...ticket.news, ...news].slice(0, MAX_NEWS),
  };
}

const taskName = (task: string): string => `task ${task}`;

/** Nobody tries any more by itself to bring this one back: that is news, too, also of one that is named already. */
export function withGivenUp(
  ticket: Ticket,
  subject: Subject,
  taskId: string | null,
  known: readonly string[] = [],
): Ticket {
  const clean = (name: string) => cleanLine(name, MAX_NAME_CHARS, known);
  const name = taskId === null ? clean(subject.name) : taskName(clean(taskId));
  const told = `${name} (given up)`;
  const news = ticket.news.filter((each) => each !== name && each !== told);
  return { ...ticket, news: [...news, told].slice(0, MAX_NEWS) };
}
