/** The rows of incidents and tickets. */

import type { HealthCheckRow } from '../../agents/ports.ts';
import type { AgentRecord } from '../../agents/spec.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { Row } from '../../base/sqlite.ts';
import { fromRecord, type Incident, onlyTask } from '../../incidents/rules/incident.ts';
import { type Ticket, ticketFromRecord } from '../../incidents/tickets/rules/ticket.ts';
import type { SessionRecord } from '../../sessions/spec.ts';
import { whole } from '../views.ts';
import { flag, isList, isObject, json, num, numOrNull, parsed, str, text, textOrNull } from './cells.ts';

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

// The rows of agents and of passes over them.

export const agentRow = (record: AgentRecord): Row => ({
  name: record.name,
  agent_type: text(record.type),
  task_id: text(record.task),
  state: record.state.kind,
  pid: record.pid,
  spawned_at: whole(record.spawnedAt),
  started_at: record.startedAt === null ? null : whole(record.startedAt),
  ended_at: record.endedAt === null ? null : whole(record.endedAt),
  respawns: record.respawns.length,
  error: textOrNull(record.error),
  record_json: json(record),
});

/** Null: it cannot be read, and its run is ended when it is found. */
export function agentOf(row: Row): AgentRecord | null {
  const isWhole = (value: unknown) => isObject(value) && isObject(value['state']) && isList(value['respawns']);
  return parsed<AgentRecord | null>(row['record_json'], null, isWhole);
}

/** As SQLite writes times itself, in UTC: `timestamp > datetime('now', '-1 hour')` is right. */
const sqlTime = (at: WallMs): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');

export const passRow = (pass: HealthCheckRow): Row => ({
  timestamp: sqlTime(pass.at),
  status: pass.status,
  active_agents: pass.activeAgents,
  crashed_agents: pass.crashedAgents,
  zombie_processes: pass.zombieProcesses,
  orchestrator_responsive: pass.orchestratorResponsive === null ? null : flag(pass.orchestratorResponsive),
  last_poll_age_seconds: pass.lastPollAgeSeconds,
  actions_taken: json(pass.actionsTaken),
  bugs_reported: json(pass.bugsReported),
});

export function passOf(row: Row): HealthCheckRow {
  const responsive = numOrNull(row['orchestrator_responsive']);
  return {
    at: Date.parse(`${str(row['timestamp']).replace(' ', 'T')}Z`) as WallMs,
    status: str(row['status']) as HealthCheckRow['status'],
    activeAgents: num(row['active_agents']),
    crashedAgents: num(row['crashed_agents']),
    zombieProcesses: num(row['zombie_processes']),
    orchestratorResponsive: responsive === null ? null : responsive === 1,
    lastPollAgeSeconds: numOrNull(row['last_poll_age_seconds']),
    actionsTaken: parsed<readonly string[]>(row['actions_taken'], [], isList),
    // Older rows have a null for each, or only say how many there were.
    bugsReported: parsed<readonly (number | null)[]>(row['bugs_reported'], [], isList).filter((bug) => bug !== null),
  };
}

// The row of one session.

export const sessionRow = (record: SessionRecord): Row => ({
  session_id: text(record.id),
  user_id: text(record.user),
  template: text(record.template),
  state: record.state,
  container_id: record.containerId,
  created_at: Math.round(record.lease.createdAt),
  expires_at: Math.round(record.lease.expiresAt),
  health_status: record.health.status,
  restarts: record.restarts,
  ended_at: record.end && Math.round(record.end.at),
  end_reason: record.end?.reason ?? null,
  record_json: json(record),
});

/** Null: it cannot be read, and its container speaks for itself. */
export function sessionRecord(row: Row): SessionRecord | null {
  const isWhole = (value: unknown) => isObject(value) && isObject(value['lease']) && isObject(value['terms']);
  return parsed<SessionRecord | null>(row['record_json'], null, isWhole);
}
