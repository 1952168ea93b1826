/** The row of one stretch of probe answers. */
import { ROLES } from '../../supervision/rules/health/probe.ts';
import type { ProbeStretch } from '../../supervision/rules/health/stretch.ts';
import type { ComponentName, RunId } from '../../base/pure/ids.ts';
import { str, text } from './cells.ts';
import type { Row, SqlValue } from '../../base/sqlite.ts';
import { stretchCells, stretchOf } from './stretch-cells.ts';

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
