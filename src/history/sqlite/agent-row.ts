/** The rows of agents and of passes over them. */
import type { AgentRecord } from '../../agents/spec.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { HealthCheckRow } from '../../agents/ports.ts';
import { whole } from '../views.ts';
import { flag, isList, isObject, json, num, numOrNull, parsed, str, text, textOrNull } from './cells.ts';
import type { Row } from '../../base/sqlite.ts';

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
