/**
 * `health_checks.bugs_reported` is the list of the tickets that were filed, as JSON. Until now it was their number: which ones they were
 * is not known any more, so there is a null for each. Never edited after a release: a change is a new file.
 */
export const BUG_NUMBERS = `
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
