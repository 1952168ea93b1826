/**
 * Agents, and what people ask about them with plain `sqlite3`: `health_checks` (one row for each pass) and `agent_crashes`. Their times
 * are text in UTC as SQLite writes it, so that they can be compared with datetime('now'); times of `agents` are epoch milliseconds.
 * Never edited after a release: a change is a new file.
 */
export const AGENTS = `
CREATE TABLE agents (
  name TEXT PRIMARY KEY,
  agent_type TEXT NOT NULL,
  task_id TEXT NOT NULL,
  state TEXT NOT NULL,
  pid INTEGER,
  spawned_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  respawns INTEGER NOT NULL,
  error TEXT,
  record_json TEXT NOT NULL
);
CREATE INDEX agents_ended ON agents (ended_at) WHERE state IN ('finished', 'stopped', 'gave-up');

CREATE TABLE health_checks (
  check_id INTEGER PRIMARY KEY,
  timestamp TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  active_agents INTEGER NOT NULL,
  crashed_agents INTEGER NOT NULL,
  zombie_processes INTEGER NOT NULL,
  orchestrator_responsive INTEGER,
  last_poll_age_seconds REAL,
  actions_taken TEXT NOT NULL,
  bugs_reported INTEGER NOT NULL
);

CREATE VIEW agent_crashes AS
SELECT
  crashes.id AS crash_id,
  crashes.pid AS agent_pid,
  crashes.agent_type AS agent_type,
  crashes.task_id AS task_id,
  strftime('%Y-%m-%d %H:%M:%f', crashes.at / 1000.0, 'unixepoch') AS crashed_at,
  crashes.error_type AS error_type,
  crashes.error_message AS error_message,
  (SELECT group_concat(value, char(10)) FROM json_each(crashes.stack_json)) AS stack_trace,
  crashes.rule = 'backoff' AS respawned,
  incidents.ticket IS NOT NULL AS bug_reported,
  incidents.ticket AS bug_number
FROM crashes LEFT JOIN incidents ON incidents.id = crashes.incident
WHERE crashes.subject_kind = 'agent';
`;
