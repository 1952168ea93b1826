/** The row of one component. Strict when reading: the supervisor acts on what it finds here, so a doubtful row is no row. */
import type { ComponentName, WallMs } from '../../base/pure/ids.ts';
import { NAME_PATTERN } from '../../base/pure/ids.ts';
import type { Component, StateKind } from '../../supervision/rules/lifecycle/state.ts';
import type { ComponentRecord, StoredPulse } from '../../supervision/ports/store.ts';
import { whole } from '../views.ts';
import { isObject, json, numOrNull, parsed, str } from './cells.ts';
import type { Row, SqlValue } from '../../base/sqlite.ts';
import { completeExit } from './exit-cell.ts';

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
