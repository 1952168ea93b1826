/** A report on all checks, for people. */
import type { CheckResult, CheckStatus, HealthReport } from '../../checks/spec.ts';
import type { Brush, Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { table } from './table.ts';

const HEADER = ['CHECK', 'STATUS', 'MESSAGE'] as const;

export function healthLines({ status, checks }: HealthReport, paint: Paint, columns?: number): string[] {
  const rows = Object.entries(checks);
  const brush = status === 'healthy' ? paint.green : paint.red;
  return [...(rows.length > 0 ? healthTable(rows, paint, columns) : []), `${brush(status)}: ${counted(rows)}`];
}

const healthTable = (rows: readonly [string, CheckResult][], paint: Paint, columns?: number): string[] =>
  table(
    HEADER,
    rows.map(([name, { status, message }]) => [
      { text: sanitise(name), brush: paint.bold },
      { text: status, brush: statusBrush(paint, status) },
      { text: oneLine(message) },
    ]),
    columns,
  );

function statusBrush(paint: Paint, status: CheckStatus): Brush {
  if (status === 'ok') return paint.green;
  return status === 'failed' ? paint.red : paint.yellow;
}

/** "1 failed, 2 skipped, 1 ok" */
function counted(rows: readonly [string, CheckResult][]): string {
  const counts = (['failed', 'skipped', 'ok'] as const).flatMap((status) => {
    const count = rows.filter(([, result]) => result.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return counts.join(', ') || 'there is nothing to check';
}

const oneLine = (text: string): string => sanitise(text.replaceAll('\n', ' '));
