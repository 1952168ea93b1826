/**
 * Incidents and tickets: what people ask for has columns; the whole record, as the daemon needs it to go on, is in `record_json`.
 * Times are epoch milliseconds. Numbers are never used twice: the last ones are in `meta` (last_incident, last_ticket).
 * Never edited after a release: a change is a new file.
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
