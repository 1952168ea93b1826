/**
 * The records of components, and values by key. Reading a component is strict: the supervisor acts on what it finds here, so a
 * doubtful row is no row.
 */
import { type ComponentName, NAME_PATTERN, type WallMs } from '../base/pure/ids.ts';
import type { Row } from '../base/sqlite.ts';
import type { ComponentRecord, Unexplained } from '../supervision/ports/store.ts';
import type { StoredPulse } from '../supervision/rules/freeze/pulse.ts';
import type { Component, StateKind } from '../supervision/rules/lifecycle/state.ts';
import { isObject, json, numOrNull, parsed, str, strOrNull, whole, wholeOrNull } from './cells.ts';
import { completeExit } from './runs.ts';
import { type Rows, table } from './table.ts';

export const COMPONENTS = {
  ...table<ComponentRecord>({
    table: 'components',
    since: 1,
    key: { name: ({ name }) => name },
    columns: {
      desired: ({ desired }) => desired,
      boot_id: ({ bootId }) => bootId,
      // The pulse travels with the state whose times count from the same boot, and so does what is known of a crash.
      component_json: ({ component, pulse, unexplained }) =>
        json({ ...component, ...(pulse ? { pulse } : {}), ...(unexplained ? { unexplained } : {}) }),
      spec_hash: ({ specHash }) => specHash,
      last_restart_json: ({ lastRestart }) => lastRestart && json(lastRestart),
      last_exit_json: ({ lastExit }) => lastExit && json(lastExit),
      started_at: ({ startedAt }) => wholeOrNull(startedAt),
      updated_at: (_, recordedAt) => whole(recordedAt),
    },
    order: ['name'],
    over: [],
  }),
  item: componentRecord,
};

/** Null for a row that cannot be believed: a component that starts afresh is better than one in an impossible state. */
function componentRecord(row: Row): ComponentRecord | null {
  const name = str(row['name']);
  const desired = str(row['desired']);
  const stored = parsed<Stored | null>(row['component_json'], null, isComponent);
  if (stored === null || !NAME_PATTERN.test(name) || (desired !== 'running' && desired !== 'stopped')) return null;
  const { pulse, unexplained, ...component } = stored;
  const hasExit: Fits = (value) => isObject(value) && isObject(value['exit']);
  const lastExit = parsed<ComponentRecord['lastExit']>(row['last_exit_json'], null, hasExit);
  return {
    name: name as ComponentName,
    desired,
    bootId: str(row['boot_id']) as ComponentRecord['bootId'],
    component,
    specHash: str(row['spec_hash']),
    lastRestart: parsed<ComponentRecord['lastRestart']>(row['last_restart_json'], null, isObject),
    lastExit: lastExit && { ...lastExit, exit: completeExit(lastExit.exit) },
    startedAt: numOrNull(row['started_at']) as WallMs | null,
    ...(isPulse(pulse) ? { pulse } : {}),
    ...(isUnexplained(unexplained) ? { unexplained } : {}),
  };
}

type Stored = Component & Pick<ComponentRecord, 'pulse' | 'unexplained'>;
type Fits = (value: unknown) => boolean;
const isText: Fits = (value) => typeof value === 'string';
const isNumber: Fits = (value) => typeof value === 'number';
/** What has no process of its own has no pid. */
const isPid: Fits = (value) => value === null || isNumber(value);
const isPulse = (value: unknown): value is StoredPulse =>
  isObject(value) && isText(value['run']) && isNumber(value['from']) && isPid(value['beatAt']);
const isUnexplained = (value: unknown): value is Unexplained =>
  isObject(value) &&
  isObject(value['subject']) &&
  isObject(value['exit']) &&
  isObject(value['counters']) &&
  isText(value['run']) &&
  isNumber(value['at']) &&
  isNumber(value['logEnd']);
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

// Values by key: what others want to be remembered, and the highest numbers of incidents and tickets.

interface Value {
  readonly key: string;
  readonly value: string;
}

const VALUES = {
  ...{ table: 'meta', since: 1, order: ['key'], over: [] },
  key: { key: ({ key }: Value) => key },
  columns: { value: ({ value }: Value) => value },
};

export const META = table<Value>(VALUES);

/** Never goes down, also when the database knows better than a daemon that could not read it. */
export const LAST_NUMBERS = table<Value>({
  ...VALUES,
  onlyIf: {
    sql: 'CAST(excluded.value AS INTEGER) > CAST(meta.value AS INTEGER)',
    holds: (before, { value }) => Number(value) > Number(before['value']),
  },
});

export const metaOf = (rows: Rows, key: string): string | null =>
  strOrNull(rows.select(META, { where: { key } })[0]?.['value']);
