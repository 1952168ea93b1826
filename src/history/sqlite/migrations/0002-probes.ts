/**
 * The probe timeline. A table with row ids, and an index without times that change: the open stretches of all components are then
 * neighbours, and extending them every few seconds writes a few pages instead of one per component.
 * Never edited after a release: a change is a new file.
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
