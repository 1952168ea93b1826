/** The row of one stretch of samples. */
import type { ComponentName, RunId, WallMs } from '../../base/pure/ids.ts';
import type { SampleStretch } from '../../supervision/rules/usage/stretch.ts';
import { num, numOrNull, str, text } from './cells.ts';
import type { Row } from '../../base/sqlite.ts';

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
