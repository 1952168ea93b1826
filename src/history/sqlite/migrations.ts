import type { Database } from '../../base/sqlite.ts';
import { DamagedError, NewerSchemaError } from './problem.ts';

// None of these is edited after a release: a change is a new one at the end.

/**
 * The first schema. People read these tables with plain `sqlite3`, so the columns use the words of the glossary. Times are epoch
 * milliseconds, except inside `component_json`: those count from the boot named by `boot_id`.
 */
const HISTORY = `
CREATE TABLE components (
  name TEXT PRIMARY KEY,
  desired TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  component_json TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  last_restart_json TEXT,
  last_exit_json TEXT,
  started_at INTEGER,
  updated_at INTEGER NOT NULL
);

CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  component TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  pid INTEGER,
  ended_at INTEGER,
  uptime_ms INTEGER,
  exit_code INTEGER,
  exit_signal TEXT,
  exit_json TEXT,
  planned INTEGER,
  decision TEXT,
  rule TEXT,
  spec_hash TEXT,
  ingredients_json TEXT,
  good INTEGER
);
CREATE INDEX runs_by_component ON runs (component, begun_at);
CREATE INDEX runs_by_time ON runs (begun_at);

CREATE TABLE crashes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject_kind TEXT NOT NULL,
  subject_name TEXT NOT NULL,
  run_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  uptime_ms INTEGER NOT NULL,
  exit_json TEXT NOT NULL,
  error_type TEXT,
  error_message TEXT,
  root_cause TEXT,
  fingerprint TEXT,
  agent_type TEXT,
  task_id TEXT,
  decision TEXT NOT NULL,
  rule TEXT NOT NULL,
  counters_json TEXT NOT NULL,
  log_tail_json TEXT NOT NULL,
  stack_json TEXT,
  related_files_json TEXT,
  dependencies_json TEXT NOT NULL,
  changed_json TEXT NOT NULL,
  incident INTEGER,
  ticket TEXT
);
CREATE UNIQUE INDEX crashes_once_per_run ON crashes (run_id, subject_kind, subject_name);
CREATE INDEX crashes_by_subject ON crashes (subject_name, subject_kind);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  subject_kind TEXT NOT NULL,
  subject_name TEXT NOT NULL,
  type TEXT NOT NULL,
  run_id TEXT,
  data_json TEXT NOT NULL
);
CREATE INDEX events_by_subject ON events (subject_name, subject_kind);

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
`;

/**
 * The probe timeline. A table with row ids, and an index without times that change: the open stretches of all components are then
 * neighbours, and extending them every few seconds writes a few pages instead of one per component.
 */
export const PROBES = `
ALTER TABLE runs ADD COLUMN log_offset INTEGER;

ALTER TABLE crashes ADD COLUMN probes_json TEXT;

CREATE TABLE probe_results (
  component TEXT NOT NULL,
  run_id TEXT NOT NULL,
  role TEXT NOT NULL,
  question TEXT NOT NULL,
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  max_ms INTEGER NOT NULL,
  PRIMARY KEY (run_id, role, first_at)
);
CREATE INDEX probe_results_by_component ON probe_results (component, first_at);
`;

/**
 * What runs used. As with the probe timeline, the table has row ids and its index no times that change: extending the open
 * stretches of all components then writes a few pages instead of one per component. Sizes are bytes; 100 % of CPU is one core.
 */
export const SAMPLES = `
CREATE TABLE samples (
  component TEXT NOT NULL,
  run_id TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  cpu_percent REAL,
  memory_bytes INTEGER NOT NULL,
  memory_max_bytes INTEGER NOT NULL,
  fds INTEGER,
  threads INTEGER NOT NULL,
  processes INTEGER NOT NULL,
  PRIMARY KEY (run_id, first_at)
);
CREATE INDEX samples_by_component ON samples (component, first_at);
`;

/** How a frozen run was dealt with, and what it was doing then: with its crash. */
export const FREEZES = `
ALTER TABLE crashes ADD COLUMN freeze_json TEXT;
`;

/**
 * What the checks that run on schedule came to: one row for each stretch of equal results, as with the probe timeline. Times are
 * epoch milliseconds.
 */
export const CHECKS = `
CREATE TABLE check_results (
  check_name TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  max_ms INTEGER NOT NULL,
  PRIMARY KEY (check_name, first_at)
);
`;

/**
 * One row for each session, also after its end. What people ask for has columns; the whole record, as the daemon needs it to go on,
 * is in `record_json`. Times are epoch milliseconds.
 */
export const SESSIONS = `
CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  template TEXT NOT NULL,
  state TEXT NOT NULL,
  container_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  health_status TEXT NOT NULL,
  restarts INTEGER NOT NULL,
  ended_at INTEGER,
  end_reason TEXT,
  record_json TEXT NOT NULL
);
CREATE INDEX sessions_open ON sessions (state) WHERE state <> 'ended';
CREATE INDEX sessions_by_time ON sessions (created_at);
CREATE INDEX sessions_by_user ON sessions (user_id, created_at);
`;

/**
 * Campaigns, what each experiment came to, and every attempt: written down before it was begun, closed when its end was seen. Times
 * are epoch milliseconds.
 */
export const CAMPAIGNS = `
CREATE TABLE campaigns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  file TEXT NOT NULL,
  source TEXT NOT NULL,
  compose_file TEXT NOT NULL,
  project_dir TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  may_be_up INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE experiments (
  campaign_id INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  service TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  exit_code INTEGER,
  duration_ms INTEGER,
  reason TEXT,
  PRIMARY KEY (campaign_id, position),
  UNIQUE (campaign_id, name)
);
CREATE TABLE experiment_attempts (
  attempt TEXT PRIMARY KEY,
  campaign_id INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  number INTEGER NOT NULL,
  container TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT,
  exit_code INTEGER,
  duration_ms INTEGER,
  reason TEXT
);
CREATE INDEX open_attempts ON experiment_attempts (campaign_id) WHERE ended_at IS NULL;
`;

/**
 * Incidents and tickets: what people ask for has columns; the whole record, as the daemon needs it to go on, is in `record_json`.
 * Times are epoch milliseconds. Numbers are never used twice: the last ones are in `meta` (last_incident, last_ticket).
 */
export const INCIDENTS = `
CREATE TABLE incidents (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  task_id TEXT,
  subject_kind TEXT NOT NULL,
  subject_name TEXT NOT NULL,
  state TEXT NOT NULL,
  title TEXT NOT NULL,
  root_cause TEXT,
  opened_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  resolved_at INTEGER,
  count INTEGER NOT NULL,
  reopened INTEGER NOT NULL,
  affected TEXT NOT NULL,
  ticket INTEGER,
  record_json TEXT NOT NULL
);
CREATE INDEX incidents_open ON incidents (state) WHERE state <> 'resolved';
CREATE INDEX incidents_by_fingerprint ON incidents (fingerprint, task_id);

CREATE TABLE tickets (
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  incident INTEGER NOT NULL,
  state TEXT NOT NULL,
  title TEXT NOT NULL,
  priority TEXT NOT NULL,
  category TEXT NOT NULL,
  root_cause TEXT,
  assigned_to TEXT,
  count INTEGER NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  closed_at INTEGER,
  fingerprint TEXT NOT NULL,
  task_id TEXT,
  record_json TEXT NOT NULL
);
CREATE INDEX tickets_open ON tickets (state) WHERE state <> 'closed';
CREATE INDEX tickets_by_fingerprint ON tickets (fingerprint, task_id);

ALTER TABLE crashes ADD COLUMN pid INTEGER;
CREATE INDEX crashes_by_incident ON crashes (incident) WHERE incident IS NOT NULL;
CREATE INDEX crashes_by_time ON crashes (at);
CREATE INDEX events_by_time ON events (at);
CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX crashes_by_task ON crashes (task_id) WHERE task_id IS NOT NULL;
`;

/**
 * Agents, and what people ask about them with plain `sqlite3`: `health_checks` (one row for each pass) and `agent_crashes`. Their times
 * are text in UTC as SQLite writes it, so that they can be compared with datetime('now'); times of `agents` are epoch milliseconds.
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

/**
 * `health_checks.bugs_reported` is the list of the tickets that were filed, as JSON. Until now it was their number: which ones they were
 * is not known any more, so there is a null for each.
 */
const BUG_NUMBERS = `
CREATE TABLE health_checks_10 (
  check_id INTEGER PRIMARY KEY,
  timestamp TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  active_agents INTEGER NOT NULL,
  crashed_agents INTEGER NOT NULL,
  zombie_processes INTEGER NOT NULL,
  orchestrator_responsive INTEGER,
  last_poll_age_seconds REAL,
  actions_taken TEXT NOT NULL,
  bugs_reported TEXT NOT NULL
);
INSERT INTO health_checks_10
SELECT
  check_id, timestamp, status, active_agents, crashed_agents, zombie_processes, orchestrator_responsive,
  last_poll_age_seconds, actions_taken,
  '[' || substr(replace(hex(zeroblob(bugs_reported)), '00', ',null'), 2) || ']'
FROM health_checks;
DROP TABLE health_checks;
ALTER TABLE health_checks_10 RENAME TO health_checks;
`;

/** The error that a program had written before it died of something else: with its crash. */
const EARLIER_ERRORS = `
ALTER TABLE crashes ADD COLUMN earlier_json TEXT;
`;

/** In order: the first one makes version 1. Only ever added to. */
export const MIGRATIONS: readonly string[] = [
  HISTORY,
  PROBES,
  SAMPLES,
  FREEZES,
  CHECKS,
  SESSIONS,
  CAMPAIGNS,
  INCIDENTS,
  AGENTS,
  BUG_NUMBERS,
  EARLIER_ERRORS,
];

// Brings a database to the schema of this program. All steps are one transaction with the version in it: killed anywhere, it is as before or done, and it waits for the disk once.

export const LATEST = MIGRATIONS.length;

/** 0: an empty database. Throws NewerSchemaError for one that a later program has written, without having touched it. */
export function schemaVersion(db: Database, known: number = LATEST): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > known) throw new NewerSchemaError(version, known);
  if (!(version >= 0)) throw new DamagedError(`the database has the impossible version ${version}`);
  return version;
}

export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  if (schemaVersion(db, migrations.length) === migrations.length) return;
  transaction(db, () => {
    // Another process may have done it while we waited for our turn: a campaign and a daemon both bring it to the newest schema.
    const before = schemaVersion(db, migrations.length);
    for (const migration of migrations.slice(before)) db.exec(migration);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/** All of it or nothing of it. The error of the work wins over one of the rollback, which some errors have done already. */
export function transaction(db: Database, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // SQLite rolls back by itself after a full disk or an I/O error; then there is nothing left to roll back.
    }
    throw error;
  }
}
