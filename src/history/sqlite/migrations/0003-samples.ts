/**
 * What runs used. As with the probe timeline, the table has row ids and its index no times that change: extending the open
 * stretches of all components then writes a few pages instead of one per component. Sizes are bytes; 100 % of CPU is one core.
 * Never edited after a release: a change is a new file.
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
