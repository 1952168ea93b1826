/** Sessions, agents, incidents and tickets: one description each, and the questions about them. A pass over the agents is kept beside these. */

import type { HealthCheckRow } from '../agents/ports.ts';
import type { AgentRecord } from '../agents/spec.ts';
import type { WallMs } from '../base/pure/ids.ts';
import type { Row } from '../base/sqlite.ts';
import { fromRecord, type Incident, onlyTask } from '../incidents/rules/incident.ts';
import { type Ticket, ticketFromRecord } from '../incidents/tickets/rules/ticket.ts';
import type { SessionRecord } from '../sessions/spec.ts';
import { isList, isObject, json, num, numOrNull, parsed, str, whole, wholeOrNull } from './cells.ts';
import { metaOf } from './components.ts';
import type { History } from './ports.ts';
import { listOf, newestOf, oneOf, type Rows, recordTable, table } from './table.ts';

/** One that cannot be read is not missed: its container speaks for itself. */
const SESSIONS = recordTable<SessionRecord>({
  table: 'sessions',
  since: 6,
  key: { session_id: ({ id }) => id },
  columns: {
    user_id: ({ user }) => user,
    template: ({ template }) => template,
    state: ({ state }) => state,
    container_id: ({ containerId }) => containerId,
    created_at: ({ lease }) => whole(lease.createdAt),
    expires_at: ({ lease }) => whole(lease.expiresAt),
    health_status: ({ health }) => health.status,
    restarts: ({ restarts }) => restarts,
    ended_at: ({ end }) => end && whole(end.at),
    end_reason: ({ end }) => end?.reason,
  },
  order: ['created_at', 'session_id'],
  over: ['ended'],
  overSince: 'ended_at',
  needs: { lease: isObject, terms: isObject },
});

/** The run of one that cannot be read is ended when it is found. */
const AGENTS = recordTable<AgentRecord>({
  table: 'agents',
  since: 9,
  key: { name: ({ name }) => name },
  columns: {
    agent_type: ({ type }) => type,
    task_id: ({ task }) => task,
    state: ({ state }) => state.kind,
    pid: ({ pid }) => pid,
    spawned_at: ({ spawnedAt }) => whole(spawnedAt),
    started_at: ({ startedAt }) => wholeOrNull(startedAt),
    ended_at: ({ endedAt }) => wholeOrNull(endedAt),
    respawns: ({ respawns }) => respawns.length,
    error: ({ error }) => error,
  },
  order: ['spawned_at', 'name'],
  over: ['finished', 'stopped', 'gave-up'],
  overSince: 'ended_at',
  needs: { state: isObject, respawns: isList },
});

/** After one that cannot be read, the next crash opens another one. */
export const INCIDENTS = recordTable<Incident>({
  table: 'incidents',
  since: 8,
  key: { id: ({ id }) => id },
  columns: {
    fingerprint: ({ fingerprint }) => fingerprint,
    task_id: onlyTask,
    subject_kind: ({ subject }) => subject.kind,
    subject_name: ({ subject }) => subject.name,
    state: ({ state }) => state,
    title: ({ title }) => title,
    root_cause: ({ rootCause }) => rootCause,
    opened_at: ({ openedAt }) => whole(openedAt),
    last_at: ({ lastAt }) => whole(lastAt),
    resolved_at: ({ resolvedAt }) => wholeOrNull(resolvedAt),
    count: ({ count }) => whole(count),
    reopened: ({ reopened }) => whole(reopened),
    affected: ({ affected }) => affected.join(' '),
    ticket: ({ ticket }) => ticket,
  },
  order: ['id'],
  lastNumber: 'last_incident',
  // With the crash it counts, so that a death of ours in between leaves the count right.
  isTogether: true,
  over: ['resolved'],
  overSince: 'resolved_at',
  staysWhile: `EXISTS (SELECT 1 FROM crashes c WHERE c.incident = incidents.id)
    OR EXISTS (SELECT 1 FROM tickets t WHERE t.incident = incidents.id AND t.state = 'open')`,
  needs: { subject: isObject, subjects: isList, waiting: isList },
  upgrade: fromRecord,
});

const TICKETS = recordTable<Ticket>({
  table: 'tickets',
  since: 8,
  key: { number: ({ number }) => number },
  columns: {
    key: ({ key }) => key,
    incident: ({ incident }) => incident,
    state: ({ state }) => state,
    title: ({ title }) => title,
    priority: ({ priority }) => priority,
    category: ({ category }) => category,
    root_cause: ({ rootCause }) => rootCause,
    assigned_to: ({ assignedTo }) => assignedTo,
    count: ({ count }) => whole(count),
    first_seen: ({ firstSeen }) => whole(firstSeen),
    last_seen: ({ lastSeen }) => whole(lastSeen),
    closed_at: ({ closedAt }) => wholeOrNull(closedAt),
    fingerprint: ({ fingerprint }) => fingerprint,
    task_id: onlyTask,
  },
  order: ['number'],
  lastNumber: 'last_ticket',
  isTogether: true,
  over: ['closed'],
  overSince: 'closed_at',
  // One that a tracker still has to hear of is not over.
  staysWhile: `EXISTS (SELECT 1 FROM incidents i WHERE i.id = tickets.incident AND i.state = 'open')
    OR EXISTS (SELECT 1 FROM json_each(iif(json_valid(record_json), record_json, '{}'), '$.trackers') tracker
      WHERE json_array_length(record_json, tracker.fullkey || '.errands') > 0)`,
  needs: { trackers: isObject },
  upgrade: ticketFromRecord,
});

/** As SQLite writes times itself, in UTC: `timestamp > datetime('now', '-1 hour')` is right. */
const sqlTime = (at: WallMs): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');

const HEALTH_CHECKS = {
  ...table<HealthCheckRow>({
    table: 'health_checks',
    since: 9,
    key: { timestamp: ({ at }) => sqlTime(at) },
    once: {
      status: ({ status }) => status,
      active_agents: ({ activeAgents }) => activeAgents,
      crashed_agents: ({ crashedAgents }) => crashedAgents,
      zombie_processes: ({ zombieProcesses }) => zombieProcesses,
      orchestrator_responsive: ({ orchestratorResponsive }) => orchestratorResponsive,
      last_poll_age_seconds: ({ lastPollAgeSeconds }) => lastPollAgeSeconds,
      actions_taken: ({ actionsTaken }) => json(actionsTaken),
      bugs_reported: ({ bugsReported }) => json(bugsReported),
    },
    order: ['timestamp'],
    old: "timestamp < strftime('%Y-%m-%d %H:%M:%f', $before / 1000.0, 'unixepoch')",
  }),
  item: passOf,
};

function passOf(row: Row): HealthCheckRow {
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

/** By their names in a commit. Tickets before incidents, which stay while they have an open one. */
export const RECORDS = {
  session: SESSIONS,
  agents: AGENTS,
  healthCheck: HEALTH_CHECKS,
  tickets: TICKETS,
  incidents: INCIDENTS,
} as const;

export const recordQuestions = (rows: Rows) =>
  ({
    sessions: ({ which, user, limit }) =>
      which === 'open'
        ? listOf(rows, SESSIONS, { isOpen: true }).filter((record) => user === undefined || record.user === user)
        : newestOf(rows, SESSIONS, { state: 'ended', user_id: user }, limit),
    session: (id) => oneOf(rows, SESSIONS, { session_id: id }),
    agents: () => listOf(rows, AGENTS, {}),
    healthChecks: ({ limit }) => newestOf(rows, HEALTH_CHECKS, {}, limit),
    incidents: ({ state, limit }) => newestOf(rows, INCIDENTS, { state }, limit),
    incident: (id) => oneOf(rows, INCIDENTS, { id }),
    incidentOf: (fingerprint) => oneOf(rows, INCIDENTS, { fingerprint }),
    tickets: ({ state, limit }) => newestOf(rows, TICKETS, { state }, limit),
    ticket: (number) => oneOf(rows, TICKETS, { number }),
    ticketByFingerprint: (fingerprint) => oneOf(rows, TICKETS, { fingerprint }),
    lastNumber: (of) => Number(metaOf(rows, { incident: INCIDENTS, ticket: TICKETS }[of].lastNumber!) ?? 0) || 0,
  }) satisfies Partial<History>;
