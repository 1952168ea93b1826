/**
 * What the checks that run on schedule came to: one row for each stretch of equal results, as with the probe timeline. Times are
 * epoch milliseconds.
 * Never edited after a release: a change is a new file.
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
