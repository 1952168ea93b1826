/** The row of one stretch of check results. */
import type { CheckStretch } from '../../checks/rules/stretch.ts';
import { str, text } from './cells.ts';
import type { Row, SqlValue } from '../../base/sqlite.ts';
import { stretchCells, stretchOf } from './stretch-cells.ts';

export const checkRow = (stretch: CheckStretch): Row => ({
  check_name: text(stretch.check),
  status: text(stretch.status),
  ...stretchCells(stretch),
});

export const checkStretch = (row: Row): CheckStretch => ({
  check: str(row['check_name']),
  status: statusOf(row['status']),
  ...stretchOf(row),
});

/** What cannot be read must not pass for good news. */
const statusOf = (cell: SqlValue | undefined): CheckStretch['status'] =>
  cell === 'ok' || cell === 'skipped' ? cell : 'failed';
