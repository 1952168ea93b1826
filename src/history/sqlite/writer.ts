/** Writes entries, a batch at a time, each batch one transaction. Every statement may be repeated without harm: a retry writes the same rows. */

import type { Database, Row, Statement } from '../../base/sqlite.ts';
import type { Entry } from '../entry.ts';
import { INCIDENTS, LAST_NUMBER, TICKETS } from '../records.ts';
import { ownerOf } from '../runs.ts';
import { text } from './cells.ts';
import { transaction } from './migrations.ts';
import { agentRow, incidentRow, passRow, sessionRow, ticketRow } from './record-rows.ts';
import { begunRow, componentRow, crashRow, endedRow, eventRow } from './rows.ts';
import { checkRow, probeRow, sampleRow } from './stretch-rows.ts';

const list = (columns: readonly string[], one: (column: string) => string): string => columns.map(one).join(', ');

/** `insert`: all columns given. `replace`: the columns to overwrite when the key is there already, none for "leave it". */
function upsert(table: string, key: string, insert: readonly string[], replace: readonly string[]): string {
  const values = list(insert, (column) => `$${column}`);
  const update =
    replace.length > 0 ? `UPDATE SET ${list(replace, (column) => `${column} = excluded.${column}`)}` : 'NOTHING';
  return `INSERT INTO ${table} (${list(insert, (column) => column)}) VALUES (${values}) ON CONFLICT (${key}) DO ${update}`;
}

const COMPONENT = [
  'desired',
  'boot_id',
  'component_json',
  'spec_hash',
  'last_restart_json',
  'last_exit_json',
  'started_at',
  'updated_at',
];
const BEGUN = ['component', 'begun_at', 'spec_hash', 'ingredients_json', 'log_offset'];
const ENDED = ['ended_at', 'uptime_ms', 'exit_code', 'exit_signal', 'exit_json', 'planned', 'decision', 'rule', 'good'];
const CRASH = [
  ...[
    'subject_kind',
    'subject_name',
    'run_id',
    'at',
    'uptime_ms',
    'exit_json',
    'error_type',
    'error_message',
    'root_cause',
    'fingerprint',
    'stack_json',
    'related_files_json',
    'earlier_json',
  ],
  ...[
    'decision',
    'rule',
    'counters_json',
    'log_tail_json',
    'dependencies_json',
    'changed_json',
    'probes_json',
    'freeze_json',
  ],
  ...['incident', 'agent_type', 'task_id', 'pid'],
];
const PROBE_KEY = ['run_id', 'role', 'first_at'];
/** Not the component, which goes with the run: to overwrite an indexed column costs more than all the others together. */
const PROBE = ['question', 'outcome', 'message', 'last_at', 'count', 'last_ms', 'max_ms'];
const SAMPLE_KEY = ['run_id', 'first_at'];
const SAMPLE = ['last_at', 'count', 'cpu_percent', 'memory_bytes', 'memory_max_bytes', 'fds', 'threads', 'processes'];
const CHECK_KEY = ['check_name', 'first_at'];
const CHECK = ['status', 'message', 'last_at', 'count', 'last_ms', 'max_ms'];
const SESSION = [
  ...['user_id', 'template', 'state', 'container_id', 'created_at', 'expires_at', 'health_status', 'restarts'],
  ...['ended_at', 'end_reason', 'record_json'],
];
const AGENT = [
  ...[
    'agent_type',
    'task_id',
    'state',
    'pid',
    'spawned_at',
    'started_at',
    'ended_at',
    'respawns',
    'error',
    'record_json',
  ],
];
const PASS = [
  ...['timestamp', 'status', 'active_agents', 'crashed_agents', 'zombie_processes', 'orchestrator_responsive'],
  ...['last_poll_age_seconds', 'actions_taken', 'bugs_reported'],
];
const INCIDENT = [
  ...['fingerprint', 'task_id', 'subject_kind', 'subject_name', 'state', 'title', 'root_cause', 'opened_at', 'last_at'],
  ...['resolved_at', 'count', 'reopened', 'affected', 'ticket', 'record_json'],
];
const TICKET = [
  ...['key', 'incident', 'state', 'title', 'priority', 'category', 'root_cause', 'assigned_to', 'count', 'first_seen'],
  ...['last_seen', 'closed_at', 'fingerprint', 'task_id', 'record_json'],
];
const EVENT = ['seq', 'at', 'subject_kind', 'subject_name', 'type', 'run_id', 'data_json'];

/** Of one run there is one crash: what is written again changes nothing. */
export const INSERT_CRASH = upsert('crashes', 'run_id, subject_kind, subject_name', CRASH, []);

const SQL = {
  component: upsert('components', 'name', ['name', ...COMPONENT], COMPONENT),
  forget: 'DELETE FROM components WHERE name = $name',
  begun: upsert('runs', 'run_id', ['run_id', ...BEGUN], BEGUN),
  pid: upsert('runs', 'run_id', ['run_id', 'component', 'begun_at', 'pid'], ['pid']),
  // The first record of an end stays: a second one comes from a daemon that found the same end again.
  ended: `${upsert('runs', 'run_id', ['run_id', 'component', 'begun_at', ...ENDED], ENDED)} WHERE runs.ended_at IS NULL`,
  crash: INSERT_CRASH,
  probe: upsert('probe_results', PROBE_KEY.join(', '), ['component', ...PROBE_KEY, ...PROBE], PROBE),
  sample: upsert('samples', SAMPLE_KEY.join(', '), ['component', ...SAMPLE_KEY, ...SAMPLE], SAMPLE),
  check: upsert('check_results', CHECK_KEY.join(', '), [...CHECK_KEY, ...CHECK], CHECK),
  session: upsert('sessions', 'session_id', ['session_id', ...SESSION], SESSION),
  agent: upsert('agents', 'name', ['name', ...AGENT], AGENT),
  pass: upsert('health_checks', 'timestamp', PASS, []),
  incident: upsert('incidents', 'id', ['id', ...INCIDENT], INCIDENT),
  ticket: upsert('tickets', 'number', ['number', ...TICKET], TICKET),
  event: upsert('events', 'seq', EVENT, []),
  meta: upsert('meta', 'key', ['key', 'value'], ['value']),
  lastNumber: `${upsert('meta', 'key', ['key', 'value'], ['value'])}
    WHERE CAST(excluded.value AS INTEGER) > CAST(meta.value AS INTEGER)`,
} as const;

export class Writer {
  readonly #db: Database;
  readonly #statements: Readonly<Record<keyof typeof SQL, Statement>>;

  /** Prepares everything at once, so that a schema that does not fit is found at opening. */
  constructor(db: Database) {
    this.#db = db;
    const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)] as const);
    this.#statements = Object.fromEntries(prepared) as Record<keyof typeof SQL, Statement>;
  }

  write(batch: readonly Entry[]): void {
    transaction(this.#db, () => {
      for (const entry of batch) this.#write(entry);
    });
  }

  #write(entry: Entry): void {
    const run = (name: keyof typeof SQL, row: Row) => this.#statements[name].run(row);
    const { record, forget, runBegun, runPid, runEnded, crash, meta, recordedAt } = entry;
    if (record !== undefined) run('component', componentRow(record, recordedAt));
    if (forget !== undefined) run('forget', { name: forget });
    if (runBegun !== undefined) run('begun', begunRow(runBegun));
    if (runPid !== undefined) {
      run('pid', { run_id: runPid.run, component: ownerOf(runPid.run), begun_at: recordedAt, pid: runPid.pid });
    }
    if (runEnded !== undefined) run('ended', endedRow(runEnded));
    if (crash !== undefined) run('crash', crashRow(crash));
    for (const stretch of entry.probed ?? []) run('probe', probeRow(stretch));
    for (const stretch of entry.sampled ?? []) run('sample', sampleRow(stretch));
    for (const stretch of entry.checked ?? []) run('check', checkRow(stretch));
    this.#writeOthers(entry);
    for (const event of entry.events) run('event', eventRow(event));
    if (meta !== undefined) run('meta', { key: text(meta.key), value: text(meta.value) });
  }

  /** What is no component's: sessions, agents, and the cases of all of them. */
  #writeOthers(entry: Entry): void {
    const run = (name: keyof typeof SQL, row: Row) => this.#statements[name].run(row);
    if (entry.session !== undefined) run('session', sessionRow(entry.session));
    for (const agent of entry.agents ?? []) run('agent', agentRow(agent));
    if (entry.healthCheck !== undefined) run('pass', passRow(entry.healthCheck));
    for (const incident of entry.incidents ?? []) run('incident', incidentRow(incident));
    for (const ticket of entry.tickets ?? []) run('ticket', ticketRow(ticket));
    const numbered = (key: string, number: number) => run('lastNumber', { key, value: `${number}` });
    for (const incident of entry.incidents ?? []) numbered(LAST_NUMBER.incident, INCIDENTS.numberOf(incident));
    for (const ticket of entry.tickets ?? []) numbered(LAST_NUMBER.ticket, TICKETS.numberOf(ticket));
  }
}
