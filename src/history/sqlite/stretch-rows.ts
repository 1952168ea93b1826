/** The row of one stretch of probe answers. */

import type { ComponentName, RunId, WallMs } from '../../base/pure/ids.ts';
import type { Row, SqlValue } from '../../base/sqlite.ts';
import type { CheckStretch } from '../../checks/rules/stretch.ts';
import { ROLES } from '../../supervision/rules/health/probe.ts';
import type { ProbeStretch, Stretch } from '../../supervision/rules/health/stretch.ts';
import type { SampleStretch } from '../../supervision/rules/usage/stretch.ts';
import { whole } from '../views.ts';
import { num, numOrNull, str, text } from './cells.ts';

export const probeRow = (stretch: ProbeStretch): Row => ({
  component: text(stretch.component),
  run_id: text(stretch.run),
  role: text(stretch.role),
  question: text(stretch.question),
  outcome: text(stretch.outcome),
  ...stretchCells(stretch),
});

/** Null for a role that is none: nobody could show it. */
export function probeStretch(row: Row): ProbeStretch | null {
  const role = ROLES.find((known) => known === row['role']);
  if (role === undefined) return null;
  return {
    component: str(row['component']) as ComponentName,
    run: str(row['run_id']) as RunId,
    role,
    question: str(row['question']),
    outcome: outcomeOf(row['outcome']),
    ...stretchOf(row),
  };
}

/** What cannot be read is nobody's failure. */
const outcomeOf = (cell: SqlValue | undefined): ProbeStretch['outcome'] =>
  cell === 'pass' || cell === 'fail' ? cell : 'inconclusive';

// The row of one stretch of check results.

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

// The row of one stretch of samples.

export const sampleRow = (stretch: SampleStretch): Row => ({
  component: text(stretch.component),
  run_id: text(stretch.run),
  first_at: stretch.firstAt,
  last_at: stretch.lastAt,
  count: stretch.count,
  cpu_percent: stretch.cpuPercent,
  memory_bytes: stretch.memoryBytes,
  memory_max_bytes: stretch.memoryMaxBytes,
  fds: stretch.fds,
  threads: stretch.threads,
  processes: stretch.processes,
});

export const sampleStretch = (row: Row): SampleStretch => ({
  component: str(row['component']) as ComponentName,
  run: str(row['run_id']) as RunId,
  firstAt: num(row['first_at']) as WallMs,
  lastAt: num(row['last_at']) as WallMs,
  count: num(row['count']),
  cpuPercent: numOrNull(row['cpu_percent']),
  memoryBytes: num(row['memory_bytes']),
  memoryMaxBytes: num(row['memory_max_bytes']),
  fds: numOrNull(row['fds']),
  threads: num(row['threads']),
  processes: num(row['processes']),
});

// The cells that the rows of all stretches have.

export const stretchCells = ({ message, firstAt, lastAt, count, lastMs, maxMs }: Stretch): Row => ({
  message: text(message),
  first_at: whole(firstAt),
  last_at: whole(lastAt),
  count: whole(count),
  last_ms: whole(lastMs),
  max_ms: whole(maxMs),
});

export const stretchOf = (row: Row): Stretch => ({
  message: str(row['message']),
  firstAt: num(row['first_at']) as WallMs,
  lastAt: num(row['last_at']) as WallMs,
  count: num(row['count']),
  lastMs: num(row['last_ms']),
  maxMs: num(row['max_ms']),
});
