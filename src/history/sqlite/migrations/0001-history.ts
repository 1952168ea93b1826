/**
 * The first schema. People read these tables with plain `sqlite3`, so the columns use the words of the glossary. Times are epoch
 * milliseconds, except inside `component_json`: those count from the boot named by `boot_id`.
 * Never edited after a release: a change is a new file.
 */
export const HISTORY = `
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
