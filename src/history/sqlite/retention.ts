/**
 * Deletes stretches of probe answers, of samples and of check results that nobody will ask for any more. Passes through the
 * components (or checks) in turn, a few of them and a bounded number of rows each time, because the event loop waits meanwhile.
 */

import type { Database } from '../../base/sqlite.ts';
import { num, str } from './cells.ts';
import { transaction } from './migrations.ts';

/**
 * Of each component, or check, and kind: months of steady answers, or half an hour of a probe that changes its mind every second;
 * months of a component that idles, or a day and a half of one that never uses the same twice.
 */
export const MAX_STRETCHES = 2_000;
export const COMPONENTS_PER_PASS = 50;
export const ROWS_PER_PASS = 1_000;
/** A stretch that goes on may have begun before all others; there is one for each probe, and a few from the last run. */
const MAX_OPEN = 16;

/** Each with the column that says whose a stretch is. */
const TABLES = [
  { table: 'probe_results', whose: 'component' },
  { table: 'samples', whose: 'component' },
  { table: 'check_results', whose: 'check_name' },
] as const;

type Table = (typeof TABLES)[number];

const sqlFor = ({ table, whose }: Table) => ({
  nextComponent: `SELECT min(${whose}) AS component FROM ${table} WHERE ${whose} > $after`,
  count: `SELECT count(*) AS count FROM (
    SELECT 1 FROM ${table} WHERE ${whose} = $component LIMIT ${MAX_STRETCHES + ROWS_PER_PASS})`,
  // The index knows which began first; of these, those go whose last answer is the oldest.
  delete: `DELETE FROM ${table} WHERE rowid IN (
    SELECT rowid FROM (
      SELECT rowid, last_at FROM ${table} WHERE ${whose} = $component ORDER BY first_at LIMIT $excess + ${MAX_OPEN})
    ORDER BY last_at LIMIT $excess)`,
});

interface Look {
  readonly found: readonly { readonly component: string; readonly excess: number }[];
  /** Everything up to this component has been looked at; '' before the first. */
  readonly cursor: string;
  readonly isDone: boolean;
}

/** Each call is one pass; true when it had to leave some for the next one. Throws what the driver throws. */
export function retention(db: Database): () => boolean {
  const passes = TABLES.map((table) => passOver(db, table));
  // Every table has its turn, also when the one before it is not done.
  return () => passes.map((pass) => pass()).includes(true);
}

function passOver(db: Database, table: Table): () => boolean {
  const sql = sqlFor(table);
  const [nextComponent, count, remove] = [db.prepare(sql.nextComponent), db.prepare(sql.count), db.prepare(sql.delete)];
  let cursor = '';

  function look(from: string): Look {
    const found: { component: string; excess: number }[] = [];
    let [after, rowsLeft] = [from, ROWS_PER_PASS];
    for (let looked = 0; looked < COMPONENTS_PER_PASS; looked += 1) {
      const component = str(nextComponent.get({ after })?.['component']);
      if (component === '') return { found, cursor: '', isDone: true };
      const excess = Math.min(num(count.get({ component })?.['count']) - MAX_STRETCHES, rowsLeft);
      if (excess > 0) found.push({ component, excess });
      rowsLeft -= Math.max(0, excess);
      if (rowsLeft === 0) break;
      after = component;
    }
    return { found, cursor: after, isDone: false };
  }

  return () => {
    const { found, isDone, cursor: next } = look(cursor);
    if (found.length > 0) transaction(db, () => found.forEach((row) => void remove.run(row)));
    cursor = next;
    return !isDone;
  };
}
