/** Reads crashes out of the database. */

import type { Database, Row, Statement } from '../../base/sqlite.ts';
import type { CrashView, WhyView } from '../../supervision/rules/views.ts';
import { whoseCrashes } from '../crash-query.ts';
import type { CrashQuery, WhyQuery } from '../ports.ts';
import { atMost, DEFAULT_CRASHES } from '../views.ts';
import { num } from './cells.ts';
import { crashView, whyView } from './rows.ts';

/** The columns a list of crashes needs: log tails stay on the disk. */
const COLUMNS =
  'id, subject_kind, subject_name, run_id, at, uptime_ms, exit_json, error_type, error_message, root_cause, ' +
  'fingerprint, agent_type, task_id, decision, incident, ticket';

const INCIDENTS_SINCE = 8;

const OF_SUBJECT = 'subject_name = $subject AND ($kind IS NULL OR subject_kind = $kind)';

/** What narrows a list that an index has found already. */
const REST =
  '($kind IS NULL OR subject_kind = $kind) AND ($type IS NULL OR error_type = $type) AND at >= $since ORDER BY id DESC LIMIT $limit';
const FULL_REST = `($subject IS NULL OR subject_name = $subject) AND ($task IS NULL OR task_id = $task) AND ${REST}`;

/** Each way in has a statement of its own: one with "or null" in all of it could use no index. */
function sqlOf(version: number) {
  const ticket =
    version >= INCIDENTS_SINCE ? '(SELECT i.ticket FROM incidents i WHERE i.id = crashes.incident)' : 'NULL';
  const pid = version >= INCIDENTS_SINCE ? 'pid' : 'NULL AS pid';
  const list = `SELECT ${COLUMNS}, ${pid}, ${ticket} AS incident_ticket FROM crashes WHERE`;
  const one = `SELECT *, ${ticket} AS incident_ticket FROM crashes WHERE`;
  return {
    all: `${list} ${REST}`,
    ofSubject: `${list} subject_name = $subject AND ($task IS NULL OR task_id = $task) AND ${REST}`,
    ofTask: `${list} task_id = $task AND ${REST}`,
    ofIncident: `${list} incident = $incident AND ${FULL_REST}`,
    one: `${one} id = $id`,
    last: `${one} ${OF_SUBJECT} ORDER BY id DESC LIMIT 1`,
    lastId: "SELECT seq FROM sqlite_sequence WHERE name = 'crashes'",
  };
}

type Name = keyof ReturnType<typeof sqlOf>;

export class CrashReader {
  readonly #statements: Readonly<Record<Name, Statement>>;

  constructor(db: Database, version: number) {
    const prepared = Object.entries(sqlOf(version)).map(([name, sql]) => [name, db.prepare(sql)] as const);
    this.#statements = Object.fromEntries(prepared) as Record<Name, Statement>;
  }

  crashes(query: CrashQuery): readonly CrashView[] {
    const { task, incident, type = null, since = Number.MIN_SAFE_INTEGER, limit = DEFAULT_CRASHES } = query;
    const { subject, kind } = whoseCrashes(query);
    const rest = { kind, type, since, limit: atMost(limit) };
    const rows = (name: Name, values: Row) => this.#statements[name].all({ ...rest, ...values }).map(crashView);
    if (incident !== undefined) return rows('ofIncident', { incident, subject, task: task ?? null });
    if (subject !== null) return rows('ofSubject', { subject, task: task ?? null });
    return task === undefined ? rows('all', {}) : rows('ofTask', { task });
  }

  why(which: WhyQuery): WhyView | null {
    const row =
      'id' in which
        ? this.#statements.one.get({ id: which.id })
        : this.#statements.last.get({ ...whoseCrashes(which) });
    return row === undefined ? null : whyView(row);
  }

  /** Ids of crashes are never used twice, so this may be higher than the newest one that is still there. */
  lastId(): number {
    return num(this.#statements.lastId.get({})?.['seq']);
  }
}
