/**
 * Deletes what is older than the retention, a bounded number of rows a pass. What is open stays, and what it refers to: crashes of
 * open incidents and tickets, the runs of crashes that stay, the run that a component is in, and the last good one of each, which
 * the next crash is compared with.
 */
import { hasErrands } from '../../incidents/tickets/rules/ticket.ts';
import { ticketOf } from './record-rows.ts';
import { num } from './cells.ts';
import type { Database, Statement } from '../../base/sqlite.ts';
import { transaction } from './migrate.ts';

export const OLD_ROWS_PER_PASS = 500;

const OPEN_CASE = `EXISTS (SELECT 1 FROM incidents i WHERE i.id = crashes.incident AND (i.state = 'open'
    OR EXISTS (SELECT 1 FROM tickets t WHERE t.incident = i.id AND t.state = 'open')))`;

/** Each finds the rows of one table that may go, by their row id. The order matters: what refers to others goes first. */
const RULES: Readonly<Record<string, string>> = {
  events: 'SELECT seq AS id FROM events WHERE at < $before LIMIT $limit',
  crashes: `SELECT id FROM crashes WHERE at < $before AND NOT ${OPEN_CASE} LIMIT $limit`,
  runs: `SELECT rowid AS id FROM runs WHERE ended_at < $before
    AND NOT EXISTS (SELECT 1 FROM crashes c WHERE c.run_id = runs.run_id)
    AND rowid <> coalesce((SELECT g.rowid FROM runs g WHERE g.component = runs.component AND g.good = 1
      AND g.ingredients_json IS NOT NULL ORDER BY g.begun_at DESC, g.rowid DESC LIMIT 1), -1)
    LIMIT $limit`,
  sessions: "SELECT rowid AS id FROM sessions WHERE state = 'ended' AND ended_at < $before LIMIT $limit",
  agents: `SELECT rowid AS id FROM agents WHERE state IN ('finished', 'stopped', 'gave-up') AND ended_at < $before
    LIMIT $limit`,
  health_checks: `SELECT check_id AS id FROM health_checks
    WHERE timestamp < strftime('%Y-%m-%d %H:%M:%f', $before / 1000.0, 'unixepoch') LIMIT $limit`,
  incidents: `SELECT id FROM incidents WHERE state = 'resolved' AND resolved_at < $before
    AND NOT EXISTS (SELECT 1 FROM crashes c WHERE c.incident = incidents.id)
    AND NOT EXISTS (SELECT 1 FROM tickets t WHERE t.incident = incidents.id AND t.state = 'open') LIMIT $limit`,
};

const CLOSED_TICKETS = `SELECT number AS id, record_json FROM tickets WHERE state = 'closed' AND closed_at < $before
  AND NOT EXISTS (SELECT 1 FROM incidents i WHERE i.id = tickets.incident AND i.state = 'open') LIMIT $limit`;

/** One pass; true when it had to leave some for the next one. Throws what the driver throws. */
export function oldRows(db: Database): (before: number) => boolean {
  const rules = Object.entries(RULES).map(([table, sql]) => ({
    find: db.prepare(sql),
    remove: db.prepare(`DELETE FROM ${table} WHERE rowid = $id`),
  }));
  const findTickets = db.prepare(CLOSED_TICKETS);
  const removeTicket = db.prepare('DELETE FROM tickets WHERE number = $id');
  const values = (before: number) => ({ before, limit: OLD_ROWS_PER_PASS });
  const found = (find: Statement, before: number) => find.all(values(before)).map((row) => num(row['id']));

  /** One that a tracker still has to hear of is not over. */
  const tickets = (before: number) =>
    findTickets.all(values(before)).flatMap((row) => {
      const ticket = ticketOf(row);
      return ticket !== null && hasErrands(ticket) ? [] : [num(row['id'])];
    });

  return (before) => {
    let isMore = false;
    const removed = (ids: readonly number[], remove: Statement) => {
      isMore ||= ids.length >= OLD_ROWS_PER_PASS;
      if (ids.length > 0) transaction(db, () => ids.forEach((id) => void remove.run({ id })));
    };
    removed(tickets(before), removeTicket);
    for (const { find, remove } of rules) removed(found(find, before), remove);
    return isMore;
  };
}
