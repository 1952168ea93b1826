/** The row of one stretch of check results. */
import type { CheckStretch } from '../../core/checks/stretch.ts';
import type { WallMs } from '../../core/ids.ts';
import { num, str, text } from './cells.ts';
import type { Row, SqlValue } from './driver.ts';

export const checkRow = (stretch: CheckStretch): Row => ({
  check_name: text(stretch.check),
  status: text(stretch.status),
  message: text(stretch.message),
  first_at: stretch.firstAt,
  last_at: stretch.lastAt,
  count: stretch.count,
  last_ms: stretch.lastMs,
  max_ms: stretch.maxMs,
});

export const checkStretch = (row: Row): CheckStretch => ({
  check: str(row['check_name']),
  status: statusOf(row['status']),
  message: str(row['message']),
  firstAt: num(row['first_at']) as WallMs,
  lastAt: num(row['last_at']) as WallMs,
  count: num(row['count']),
  lastMs: num(row['last_ms']),
  maxMs: num(row['max_ms']),
});

/** What cannot be read must not pass for good news. */
const statusOf = (cell: SqlValue | undefined): CheckStretch['status'] =>
  cell === 'ok' || cell === 'skipped' ? cell : 'failed';
