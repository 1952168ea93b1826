/** Between the rows of runs, crashes and events and our types. Each column is named twice, once per direction, and only here. */

import type { ExitView } from '../../base/pure/exit.ts';
import { type ComponentName, NAME_PATTERN, type RunId, type WallMs } from '../../base/pure/ids.ts';
import type { Row, SqlValue } from '../../base/sqlite.ts';
import { bugNumber } from '../../incidents/tickets/rules/number.ts';
import type { ComponentRecord, NewCrash, RunBegun, RunEnded, StoredPulse } from '../../supervision/ports/store.ts';
import { stretchView } from '../../supervision/rules/health/stretch.ts';
import type { Component, StateKind } from '../../supervision/rules/lifecycle/state.ts';
import type { CrashView, EventView, Subject, WhyView } from '../../supervision/rules/views.ts';
import type { NumberedEvent } from '../entry.ts';
import { begunBefore, type KnownRun } from '../runs.ts';
import { countersView, isoTime, whole } from '../views.ts';
import { flag, isList, isObject, json, num, numOrNull, parsed, str, strOrNull, text, textOrNull } from './cells.ts';

const NO_COUNTERS: WhyView['rule']['counters'] = { restarts_in_window: 0, failures: 0, spawn_errors: 0, total: 0 };

export const begunRow = ({ run, component, at, specHash, ingredients, logOffset }: RunBegun): Row => ({
  run_id: run,
  component,
  begun_at: whole(at),
  spec_hash: specHash,
  ingredients_json: json(ingredients),
  log_offset: logOffset === null ? null : whole(logOffset),
});

export const endedRow = (ended: RunEnded): Row => ({
  run_id: ended.run,
  component: ended.component,
  begun_at: begunBefore(ended),
  ended_at: whole(ended.at),
  uptime_ms: whole(ended.uptimeMs),
  exit_code: ended.exit.code,
  exit_signal: ended.exit.signal,
  exit_json: json(ended.exit),
  planned: flag(ended.planned),
  decision: text(ended.decision),
  rule: ended.rule,
  good: flag(ended.good),
});

export function knownRun(row: Row): KnownRun {
  const endedAt = numOrNull(row['ended_at']) as WallMs | null;
  return {
    row: {
      run: str(row['run_id']) as RunId,
      component: str(row['component']) as ComponentName,
      begunAt: num(row['begun_at']) as WallMs,
      endedAt,
      pid: numOrNull(row['pid']),
      exit: endedAt === null ? null : exitOf(row['exit_json']),
      planned: endedAt === null ? null : num(row['planned']) === 1,
      logOffset: numOrNull(row['log_offset']),
    },
    good: num(row['good']) === 1,
    ingredients: ingredientsOf(row),
  };
}

export const ingredientsOf = (row: Row): Readonly<Record<string, string>> | null =>
  parsed<Readonly<Record<string, string>> | null>(row['ingredients_json'], null, isObject);

export const crashRow = (crash: NewCrash): Row => ({
  subject_kind: crash.subject.kind,
  subject_name: text(crash.subject.name),
  run_id: crash.run,
  at: whole(crash.at),
  uptime_ms: whole(crash.uptimeMs),
  exit_json: json(crash.exit),
  error_type: textOrNull(crash.errorType),
  error_message: textOrNull(crash.errorMessage),
  root_cause: textOrNull(crash.rootCause),
  fingerprint: textOrNull(crash.fingerprint ?? null),
  stack_json: crash.stack ? json(crash.stack) : null,
  related_files_json: crash.relatedFiles ? json(crash.relatedFiles) : null,
  earlier_json: crash.earlier ? json(crash.earlier) : null,
  decision: text(crash.decision),
  rule: crash.rule,
  counters_json: json(countersView(crash)),
  log_tail_json: json(crash.logTail),
  dependencies_json: json(crash.dependencies),
  changed_json: json(crash.changedSinceGood),
  probes_json: json(crash.probes.map(stretchView)),
  freeze_json: crash.freeze ? json(crash.freeze) : null,
  incident: crash.incident ?? null,
  agent_type: textOrNull(crash.agentType ?? null),
  task_id: textOrNull(crash.taskId ?? null),
  pid: crash.pid ?? null,
});

export const crashView = (row: Row): CrashView => ({
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
  ticket: ticketCell(row),
});

/** Of its incident: the first crashes of it were recorded before it had one. */
function ticketCell(row: Row): string | null {
  const number = numOrNull(row['incident_ticket']);
  return number === null ? strOrNull(row['ticket']) : bugNumber(number);
}

export const whyView = (row: Row): WhyView => ({
  schema_version: 1,
  ...crashView(row),
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

export const eventRow = ({ seq, at, subject, type, run, data }: NumberedEvent): Row => ({
  seq,
  at: whole(at),
  subject_kind: subject.kind,
  subject_name: text(subject.name),
  type: text(type),
  run_id: run,
  data_json: json(data),
});

export const eventView = (row: Row): EventView => ({
  seq: num(row['seq']),
  at: isoTime(num(row['at'])),
  subject: subjectOf(row),
  type: str(row['type']),
  run_id: strOrNull(row['run_id']),
  data: parsed(row['data_json'], {}, isObject),
});

const SUBJECTS: readonly Subject['kind'][] = [
  ...(['component', 'check', 'daemon', 'session', 'agent', 'experiment'] as const),
];

const subjectOf = (row: Row): Subject => ({
  kind: SUBJECTS.find((kind) => kind === row['subject_kind']) ?? 'component',
  name: str(row['subject_name']),
});

// How a run ended, out of its JSON: complete whatever is in there, because it is shown as it is.

const UNREADABLE: ExitView = {
  code: null,
  signal: null,
  oom: false,
  core: false,
  ambiguous: false,
  spawn_error: null,
  unknown: 'the record cannot be read',
  unhealthy: null,
};

export const exitOf = (cell: SqlValue | undefined): ExitView => completeExit(parsed(cell, UNREADABLE, isObject));

/** Before there were probes, nobody was ended because of one. */
export const completeExit = (exit: ExitView): ExitView => ({ ...exit, unhealthy: exit.unhealthy ?? null });

// The row of one component. Strict when reading: the supervisor acts on what it finds here, so a doubtful row is no row.

export const componentRow = (record: ComponentRecord, updatedAt: WallMs): Row => ({
  name: record.name,
  desired: record.desired,
  boot_id: record.bootId,
  // The pulse travels with the state whose times count from the same boot.
  component_json: json(record.pulse ? { ...record.component, pulse: record.pulse } : record.component),
  spec_hash: record.specHash,
  last_restart_json: record.lastRestart && json(record.lastRestart),
  last_exit_json: record.lastExit && json(record.lastExit),
  started_at: record.startedAt && whole(record.startedAt),
  updated_at: whole(updatedAt),
});

/** Null for a row that cannot be believed: a component that starts afresh is better than one in an impossible state. */
export function componentRecord(row: Row): ComponentRecord | null {
  const name = str(row['name']);
  const desired = str(row['desired']);
  const stored = parsed<(Component & Pick<ComponentRecord, 'pulse'>) | null>(row['component_json'], null, isComponent);
  if (stored === null || !NAME_PATTERN.test(name) || (desired !== 'running' && desired !== 'stopped')) return null;
  const { pulse, ...component } = stored;
  return {
    name: name as ComponentName,
    desired,
    bootId: str(row['boot_id']) as ComponentRecord['bootId'],
    component,
    specHash: str(row['spec_hash']),
    lastRestart: parsed<ComponentRecord['lastRestart']>(row['last_restart_json'], null, isObject),
    lastExit: lastExitOf(row['last_exit_json']),
    startedAt: numOrNull(row['started_at']) as WallMs | null,
    ...(isPulse(pulse) ? { pulse } : {}),
  };
}

function lastExitOf(cell: SqlValue | undefined): ComponentRecord['lastExit'] {
  const last = parsed<ComponentRecord['lastExit']>(cell, null, (value) => isObject(value) && isObject(value['exit']));
  return last && { ...last, exit: completeExit(last.exit) };
}

type Fits = (value: unknown) => boolean;
const isText: Fits = (value) => typeof value === 'string';
const isNumber: Fits = (value) => typeof value === 'number';
/** What has no process of its own has no pid. */
const isPid: Fits = (value) => value === null || isNumber(value);
const isPulse = (value: unknown): value is StoredPulse =>
  isObject(value) && isText(value['run']) && isNumber(value['from']) && isPid(value['beatAt']);
/** Whoever reads an older record adds it. */
const isHealth: Fits = (value) => value === undefined || isObject(value);

/** What each state cannot be without, so that a damaged row is noticed here and not in the middle of a decision. */
const NEEDS: Readonly<Record<StateKind, Readonly<Record<string, Fits>>>> = {
  stopped: {},
  waiting: { attempt: isText },
  starting: { run: isText, since: isNumber },
  running: { run: isText, pid: isPid, startedAt: isNumber, health: isHealth },
  'backing-off': { until: isNumber },
  stopping: { run: isText, stage: isText, until: isNumber, goal: isText },
  completed: {},
  'gave-up': { rule: isText },
};

function isComponent(value: unknown): boolean {
  if (!isObject(value) || !isObject(value['state']) || !isObject(value['counters'])) return false;
  const { state, counters } = value;
  const kind = state['kind'];
  if (typeof kind !== 'string' || !Object.hasOwn(NEEDS, kind)) return false;
  const complete = Object.entries(NEEDS[kind as StateKind]).every(([field, fits]) => fits(state[field]));
  const { restarts } = counters;
  const counted = ['failures', 'spawnErrors', 'total'].every((field) => Number.isFinite(counters[field]));
  return complete && counted && Array.isArray(restarts) && restarts.every((at) => Number.isFinite(at));
}
