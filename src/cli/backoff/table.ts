/** The schedule as a table: one row per restart, then where it ends and what happens then. */
import { formatDuration } from '../../base/pure/format.ts';
import type { LifecyclePolicy } from '../../supervision/rules/lifecycle/state.ts';
import type { Bounds, PlannedRestart, Schedule } from '../../supervision/rules/restart/schedule.ts';
import type { Paint } from '../print/colour.ts';
import { type Cell, table } from '../print/table.ts';

const HEADER = ['RESTART', 'WAIT', 'SINCE FIRST FAILURE', 'LIMIT'] as const;

/** So many rows are shown one by one; above that, equal waits share a row. */
const MAX_PLAIN = 20;
/** And when there are no equal ones: the first and the last of them. */
const FIRST = 15;
const LAST = 5;

export function backoffTable(policy: LifecyclePolicy, planned: Schedule, paint: Paint, columns?: number): string[] {
  const rows = [...restartRows(policy, planned), ...endRows(policy, planned, paint)];
  return rows.length === 0 ? [] : table(HEADER, rows, columns);
}

/** "54 s to 1 min"; one value when both are the same to a reader. */
export function range({ minMs, maxMs }: Bounds): string {
  const [from, to] = [formatDuration(minMs), formatDuration(maxMs)];
  return from === to ? to : `${from} to ${to}`;
}

function restartRows({ restart }: LifecyclePolicy, { restarts, givesUp }: Schedule): Cell[][] {
  const groups = restarts.length <= MAX_PLAIN ? restarts.map((one) => [one]) : equalWaits(restarts);
  const within = ` in ${formatDuration(restart.limit.withinMs)}`;
  const rows = groups.map((group, index) => {
    const [first, last] = [group[0]!, group.at(-1)!];
    return cells(
      first === last ? String(first.number) : `${first.number} to ${last.number}`,
      range(first.wait),
      range({ minMs: first.begins.minMs, maxMs: last.begins.maxMs }),
      `${last.inWindow} of ${restart.limit.max}${index === 0 ? within : ''}`,
    );
  });
  const goesOn = givesUp === 'never' || givesUp === 'beyond' ? [cells('…', '', '', 'and so on')] : [];
  return [...shortened(rows), ...goesOn];
}

function equalWaits(restarts: readonly PlannedRestart[]): PlannedRestart[][] {
  const groups: PlannedRestart[][] = [];
  for (const one of restarts) {
    const group = groups.at(-1);
    if (group?.[0]?.wait.maxMs === one.wait.maxMs) group.push(one);
    else groups.push([one]);
  }
  return groups;
}

const shortened = (rows: readonly Cell[][]): Cell[][] =>
  rows.length <= MAX_PLAIN ? [...rows] : [...rows.slice(0, FIRST), cells('…', '', '', ''), ...rows.slice(-LAST)];

function endRows({ restart }: LifecyclePolicy, { end, quiet, givesUp }: Schedule, paint: Paint): Cell[][] {
  if (end === null || end.verdict.rule !== 'limit') return [];
  const { max, withinMs } = restart.limit;
  const used = max === 0 ? 'no restart is allowed' : `${max} of ${max} in ${formatDuration(withinMs)} are used`;
  const gaveUp = givesUp === 'perhaps' ? `${used}, if the waits were short` : used;
  const rows = [cells('gave-up', '', range(end.at), gaveUp, paint.red)];
  const { retryMs } = restart.limit;
  if (quiet && retryMs !== null) {
    const every = `again every ${formatDuration(retryMs)}`;
    const then = quiet.verdict.kind === 'restart' ? 'then restarts as above' : every;
    rows.push(cells('quiet retry', formatDuration(retryMs), range(quiet.at), then, paint.yellow));
  }
  return rows;
}

const cells = (number: string, wait: string, since: string, limit: string, brush: Cell['brush'] = String): Cell[] => [
  { text: number, brush },
  { text: wait },
  { text: since },
  { text: limit },
];
