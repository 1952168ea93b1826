/**
 * Campaigns, what each experiment came to, and every attempt: written down before it was begun, closed when its end was seen. Times
 * are epoch milliseconds.
 * Never edited after a release: a change is a new file.
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
