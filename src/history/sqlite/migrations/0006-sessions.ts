/**
 * One row for each session, also after its end. What people ask for has columns; the whole record, as the daemon needs it to go on,
 * is in `record_json`. Times are epoch milliseconds.
 * Never edited after a release: a change is a new file.
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
