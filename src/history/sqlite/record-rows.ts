/** The rows of incidents and tickets. */
import { fromRecord, type Incident, onlyTask } from '../../incidents/rules/incident.ts';
import { type Ticket, ticketFromRecord } from '../../incidents/tickets/rules/ticket.ts';
import { whole } from '../views.ts';
import { isList, isObject, json, parsed, text, textOrNull } from './cells.ts';
import type { Row } from '../../base/sqlite.ts';

export const incidentRow = (incident: Incident): Row => ({
  id: incident.id,
  fingerprint: text(incident.fingerprint),
  task_id: textOrNull(onlyTask(incident)),
  subject_kind: incident.subject.kind,
  subject_name: text(incident.subject.name),
  state: incident.state,
  title: text(incident.title),
  root_cause: textOrNull(incident.rootCause),
  opened_at: whole(incident.openedAt),
  last_at: whole(incident.lastAt),
  resolved_at: incident.resolvedAt === null ? null : whole(incident.resolvedAt),
  count: whole(incident.count),
  reopened: whole(incident.reopened),
  affected: text(incident.affected.join(' ')),
  ticket: incident.ticket,
  record_json: json(incident),
});

/** Null: it cannot be read; the next crash opens another one. */
export function incidentOf(row: Row): Incident | null {
  const isWhole = (value: unknown) =>
    isObject(value) && isObject(value['subject']) && isList(value['subjects']) && isList(value['waiting']);
  const written = parsed<Parameters<typeof fromRecord>[0] | null>(row['record_json'], null, isWhole);
  return written && fromRecord(written);
}

export const ticketRow = (ticket: Ticket): Row => ({
  number: ticket.number,
  key: text(ticket.key),
  incident: ticket.incident,
  state: ticket.state,
  title: text(ticket.title),
  priority: ticket.priority,
  category: ticket.category,
  root_cause: textOrNull(ticket.rootCause),
  assigned_to: textOrNull(ticket.assignedTo),
  count: whole(ticket.count),
  first_seen: whole(ticket.firstSeen),
  last_seen: whole(ticket.lastSeen),
  closed_at: ticket.closedAt === null ? null : whole(ticket.closedAt),
  fingerprint: text(ticket.fingerprint),
  task_id: textOrNull(onlyTask(ticket)),
  record_json: json(ticket),
});

export function ticketOf(row: Row): Ticket | null {
  const isWhole = (value: unknown) => isObject(value) && isObject(value['trackers']);
  const written = parsed<Parameters<typeof ticketFromRecord>[0] | null>(row['record_json'], null, isWhole);
  return written && ticketFromRecord(written);
}
