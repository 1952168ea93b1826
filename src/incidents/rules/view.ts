/** Incidents as the API and the library show them. */

import type { Count, IsoTime } from '../../base/pure/json.ts';
import type { Subject } from '../../supervision/rules/views.ts';
import { bugNumber } from '../tickets/rules/number.ts';
import { type Incident, type IncidentState, onlyTask } from './incident.ts';

/** A problem with one cause, from its first crash to the recovery. */
export interface IncidentView {
  readonly id: Count;
  readonly state: IncidentState;
  readonly title: string;
  readonly root_cause: string | null;
  readonly fingerprint: string;
  /** The task of the agents that crashed with it, when it is one only. */
  readonly task_id: string | null;
  /** Tasks of the agents that crashed with it. */
  readonly tasks: readonly string[];
  /** Whose crash was the first. */
  readonly subject: Subject;
  /** All that crashed with it. */
  readonly subjects: readonly Subject[];
  /** Components that depend on them, and went down or cannot start because of it. */
  readonly affected: readonly string[];
  /** Crashes with this cause. */
  readonly count: Count;
  /** How often it came back after a recovery. */
  readonly reopened: Count;
  readonly opened_at: IsoTime;
  /** Of the last crash. */
  readonly last_at: IsoTime;
  readonly resolved_at: IsoTime | null;
  /** "BUG-003" */
  readonly ticket: string | null;
  /** The incident that it turned out to be a part of. */
  readonly folded_into: Count | null;
  /** When somebody said that they are working on it. */
  readonly acknowledged_at: IsoTime | null;
  /** No alerts about it before this time; null, or in the past: there are. */
  readonly silenced_until: IsoTime | null;
}

/** One incident. */
export interface OneIncidentView {
  readonly schema_version: 1;
  readonly incident: IncidentView;
}

/** Incidents, newest first. */
export interface IncidentsView {
  readonly schema_version: 1;
  readonly incidents: readonly IncidentView[];
}

const time = (at: number): string => new Date(Math.abs(at) <= 8.64e15 ? at : 0).toISOString();

export const incidentsView = (incidents: readonly Incident[]): IncidentsView => ({
  schema_version: 1,
  incidents: incidents.map(incidentView),
});

export const oneIncidentView = (incident: Incident): OneIncidentView => ({
  schema_version: 1,
  incident: incidentView(incident),
});

const timeOrNull = (at: number | null | undefined): string | null => (at == null ? null : time(at));

const incidentView = (incident: Incident): IncidentView => ({
  id: incident.id,
  state: incident.state,
  title: incident.title,
  root_cause: incident.rootCause,
  fingerprint: incident.fingerprint,
  task_id: onlyTask(incident),
  tasks: incident.tasks,
  subject: incident.subject,
  subjects: incident.subjects,
  affected: incident.affected,
  count: incident.count,
  reopened: incident.reopened,
  opened_at: time(incident.openedAt),
  last_at: time(incident.lastAt),
  resolved_at: timeOrNull(incident.resolvedAt),
  ticket: incident.ticket === null ? null : bugNumber(incident.ticket),
  folded_into: incident.foldedInto ?? null,
  acknowledged_at: timeOrNull(incident.acknowledgedAt),
  silenced_until: timeOrNull(incident.silencedUntil),
});

/** Everybody with the same cause but the one that it is named after, which is in its title; of agents, their tasks. */
export function othersWith({ subjects, tasks }: Pick<IncidentView, 'subjects' | 'tasks'>): readonly string[] {
  const hasTasks = tasks.length > 0;
  const names = subjects.slice(1).flatMap(({ kind, name }) => (hasTasks && kind === 'agent' ? [] : [name]));
  return [...new Set([...names, ...tasks])];
}
