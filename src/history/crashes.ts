/** Crashes: of one run there is one, written once. What is shown of it is made from its row, wherever that is. */

import type { Row } from '../base/sqlite.ts';
import { bugNumber } from '../incidents/tickets/rules/number.ts';
import type { NewCrash } from '../supervision/ports/store.ts';
import { stretchView } from '../supervision/rules/health/stretch.ts';
import type { CrashView, WhyView } from '../supervision/rules/views.ts';
import { isList, isObject, isoTime, json, num, numOrNull, parsed, str, strOrNull, whole } from './cells.ts';
import { subjectOf } from './events.ts';
import type { CrashQuery, History } from './ports.ts';
import { INCIDENTS } from './records.ts';
import { exitOf } from './runs.ts';
import { above, atLeast, type Rows, table, type Where } from './table.ts';

/** How many crashes a query without a limit gets. */
const DEFAULT_CRASHES = 100;

type Counters = WhyView['rule']['counters'];
const NO_COUNTERS: Counters = { restarts_in_window: 0, failures: 0, spawn_errors: 0, total: 0 };

const countersOf = ({ counters, restartsInWindow }: NewCrash): Counters => ({
  restarts_in_window: restartsInWindow,
  failures: counters.failures,
  spawn_errors: counters.spawnErrors,
  total: counters.total,
});

export const CRASHES = table<NewCrash>({
  table: 'crashes',
  since: 1,
  id: 'id',
  key: {
    run_id: ({ run }) => run,
    subject_kind: ({ subject }) => subject.kind,
    subject_name: ({ subject }) => subject.name,
  },
  once: {
    at: ({ at }) => whole(at),
    uptime_ms: ({ uptimeMs }) => whole(uptimeMs),
    exit_json: ({ exit }) => json(exit),
    error_type: ({ errorType }) => errorType,
    error_message: ({ errorMessage }) => errorMessage,
    root_cause: ({ rootCause }) => rootCause,
    fingerprint: ({ fingerprint }) => fingerprint,
    stack_json: ({ stack }) => stack && json(stack),
    related_files_json: ({ relatedFiles }) => relatedFiles && json(relatedFiles),
    earlier_json: ({ earlier }) => earlier && json(earlier),
    decision: ({ decision }) => decision,
    rule: ({ rule }) => rule,
    counters_json: (crash) => json(countersOf(crash)),
    log_tail_json: ({ logTail }) => json(logTail),
    dependencies_json: ({ dependencies }) => json(dependencies),
    changed_json: ({ changedSinceGood }) => json(changedSinceGood),
    probes_json: ({ probes }) => json(probes.map(stretchView)),
    freeze_json: ({ freeze }) => freeze && json(freeze),
    incident: ({ incident }) => incident,
    agent_type: ({ agentType }) => agentType,
    task_id: ({ taskId }) => taskId,
    pid: ({ pid }) => pid,
  },
  order: ['id'],
  old: `at < $before AND NOT EXISTS (SELECT 1 FROM incidents i WHERE i.id = crashes.incident AND (i.state = 'open'
    OR EXISTS (SELECT 1 FROM tickets t WHERE t.incident = i.id AND t.state = 'open')))`,
});

/** What a crash is without when the disk could not be written for too long. */
export const withoutEvidence = (row: Row): Row => ({
  ...row,
  log_tail_json: json(['(log tail dropped, and probe answers: the disk could not be written for too long)']),
  probes_json: '[]',
});

/** The columns a list of crashes needs: log tails stay on the disk. */
const LISTED = [
  ...['at', 'uptime_ms', 'exit_json', 'error_type', 'error_message', 'root_cause', 'fingerprint'],
  ...['agent_type', 'task_id', 'pid', 'decision', 'incident', 'ticket'],
];

const crashView = (row: Row, ticket: number | null): CrashView => ({
  id: num(row['id']),
  subject: subjectOf(row),
  run_id: str(row['run_id']),
  at: isoTime(num(row['at'])),
  uptime_ms: num(row['uptime_ms']),
  exit: exitOf(row['exit_json']),
  error_type: strOrNull(row['error_type']),
  error_message: strOrNull(row['error_message']),
  root_cause: strOrNull(row['root_cause']),
  fingerprint: strOrNull(row['fingerprint']),
  agent_type: strOrNull(row['agent_type']),
  task_id: strOrNull(row['task_id']),
  agent_pid: numOrNull(row['pid']),
  decision: str(row['decision']),
  incident: numOrNull(row['incident']),
  ticket: ticket === null ? strOrNull(row['ticket']) : bugNumber(ticket),
});

const whyView = (row: Row, ticket: number | null): WhyView => ({
  schema_version: 1,
  ...crashView(row, ticket),
  log_tail: parsed(row['log_tail_json'], [], isList),
  stack: parsed(row['stack_json'], [], isList),
  related_files: parsed(row['related_files_json'], [], isList),
  earlier_error: parsed<WhyView['earlier_error']>(row['earlier_json'], null, isObject),
  probes: parsed(row['probes_json'], [], isList),
  freeze: parsed<WhyView['freeze']>(row['freeze_json'], null, isObject),
  dependencies: parsed(row['dependencies_json'], [], isList),
  changed_since_good: parsed<readonly string[] | null>(row['changed_json'], null, isList),
  rule: { name: str(row['rule']), counters: parsed(row['counters_json'], NO_COUNTERS, isObject) },
});

/** Components and agents are two ways to name a subject of a certain kind. */
function whose({ component, agent, subject, kind }: CrashQuery): Where {
  if (component !== undefined) return { subject_name: component, subject_kind: 'component' };
  if (agent !== undefined) return { subject_name: agent, subject_kind: 'agent' };
  return { subject_name: subject, subject_kind: kind };
}

/** A crash has the ticket of its incident: the first crashes of it were recorded before it had one. */
function ticketsOf(rows: Rows): (crash: Row) => number | null {
  const known = new Map<number, number | null>();
  return ({ incident }) => {
    const id = numOrNull(incident);
    if (id === null) return null;
    if (!known.has(id))
      known.set(id, numOrNull(rows.select(INCIDENTS, { where: { id }, columns: ['ticket'] })[0]?.['ticket']));
    return known.get(id) ?? null;
  };
}

export const crashQuestions = (rows: Rows) =>
  ({
    crashes: (query) => {
      const { task, type, incident, since, limit = DEFAULT_CRASHES } = query;
      const about = { task_id: task, error_type: type, incident, at: since === undefined ? since : atLeast(since) };
      const where = { ...whose(query), ...about };
      const ticketOf = ticketsOf(rows);
      const found = rows.select(CRASHES, { where, columns: LISTED, newestFirst: true, limit });
      return found.map((row) => crashView(row, ticketOf(row)));
    },
    crashesAfter: (id, limit) => {
      const ticketOf = ticketsOf(rows);
      const found = rows.select(CRASHES, { where: { id: above(id) }, columns: LISTED, limit });
      return found.map((row) => crashView(row, ticketOf(row)));
    },
    why: (which) => {
      const where = 'id' in which ? { id: which.id } : whose(which);
      const row = rows.select(CRASHES, { where, newestFirst: true, limit: 1 })[0];
      return row === undefined ? null : whyView(row, ticketsOf(rows)(row));
    },
  }) satisfies Partial<History>;
