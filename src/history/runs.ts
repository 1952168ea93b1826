/** Runs: one row each, to which beginning, pid and end add what they know, in whatever order they arrive. */

import type { ExitView } from '../base/pure/exit.ts';
import { type ComponentName, componentOfRun, type RunId, type WallMs } from '../base/pure/ids.ts';
import type { Row, SqlValue } from '../base/sqlite.ts';
import type { ComponentCommit, RunBegun, RunEnded, RunRow } from '../supervision/ports/store.ts';
import { isObject, json, num, numOrNull, parsed, str, strOrNull, whole, wholeOrNull } from './cells.ts';
import type { History } from './ports.ts';
import { atLeast, NOT_NULL, newestOf, oneOf, type Rows, table } from './table.ts';

type RunPid = NonNullable<ComponentCommit['runPid']>;

/** What refers to a run goes first, and the last good one of each component stays: the next crash is compared with it. */
const OLD = `ended_at < $before AND NOT EXISTS (SELECT 1 FROM crashes c WHERE c.run_id = runs.run_id)
  AND rowid <> coalesce((SELECT g.rowid FROM runs g WHERE g.component = runs.component AND g.good = 1
    AND g.ingredients_json IS NOT NULL ORDER BY g.begun_at DESC, g.rowid DESC LIMIT 1), -1)`;

const RUNS = {
  ...{ table: 'runs', since: 1, order: ['begun_at', 'rowid'], old: OLD },
  isPartial: true,
  key: { run_id: ({ run }: { readonly run: RunId }) => run },
} as const;

/** The component of a run whose beginning was never recorded: its id says so. */
const ownerOf = (run: RunId): string => componentOfRun(run) ?? run.split('~')[0]!;

const BEGUN = table<RunBegun>({
  ...RUNS,
  columns: {
    component: ({ component }) => component,
    begun_at: ({ at }) => whole(at),
    spec_hash: ({ specHash }) => specHash,
    ingredients_json: ({ ingredients }) => json(ingredients),
    log_offset: ({ logOffset }) => wholeOrNull(logOffset),
  },
});

const PID = table<RunPid>({
  ...RUNS,
  once: { component: ({ run }) => ownerOf(run), begun_at: (_, recordedAt) => whole(recordedAt) },
  columns: { pid: ({ pid }) => pid },
});

const ENDED = table<RunEnded>({
  ...RUNS,
  // Without its beginning, this is the best that can be said about that.
  once: { component: ({ component }) => component, begun_at: ({ at, uptimeMs }) => whole(at - uptimeMs) },
  columns: {
    ended_at: ({ at }) => whole(at),
    uptime_ms: ({ uptimeMs }) => whole(uptimeMs),
    exit_code: ({ exit }) => exit.code,
    exit_signal: ({ exit }) => exit.signal,
    exit_json: ({ exit }) => json(exit),
    planned: ({ planned }) => planned,
    decision: ({ decision }) => decision,
    rule: ({ rule }) => rule,
    good: ({ good }) => good,
  },
  // The first record of an end stays: a second one comes from a daemon that found the same end again.
  onlyIf: { sql: 'runs.ended_at IS NULL', holds: (before) => (before['ended_at'] ?? null) === null },
});

/** By their names in a commit. */
export const RUN_WRITES = { runBegun: BEGUN, runPid: PID, runEnded: ENDED } as const;

const runRows = { ...BEGUN, item: runRow };
const ingredients = { ...BEGUN, reads: ['ingredients_json'], item: ingredientsOf };

function runRow(row: Row): RunRow {
  const endedAt = numOrNull(row['ended_at']) as WallMs | null;
  return {
    run: str(row['run_id']) as RunId,
    component: str(row['component']) as ComponentName,
    begunAt: num(row['begun_at']) as WallMs,
    endedAt,
    pid: numOrNull(row['pid']),
    exit: endedAt === null ? null : exitOf(row['exit_json']),
    planned: endedAt === null ? null : num(row['planned']) === 1,
    good: endedAt === null ? null : num(row['good']) === 1,
    decision: strOrNull(row['decision']),
    rule: strOrNull(row['rule']),
    logOffset: numOrNull(row['log_offset']),
  };
}

function ingredientsOf(row: Row): Readonly<Record<string, string>> | null {
  return parsed<Readonly<Record<string, string>> | null>(row['ingredients_json'], null, isObject);
}

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
  usage: null,
};

export const exitOf = (cell: SqlValue | undefined): ExitView => completeExit(parsed(cell, UNREADABLE, isObject));

/** Before there were probes, nobody was ended because of one; before there was a native shim, nobody was told what it used. */
export const completeExit = (exit: ExitView): ExitView => ({
  ...exit,
  unhealthy: exit.unhealthy ?? null,
  usage: exit.usage ?? null,
});

export const runQuestions = (rows: Rows) =>
  ({
    run: (run) => oneOf(rows, runRows, { run_id: run }),
    runs: ({ component, since, limit }) =>
      newestOf(rows, runRows, { component, ended_at: since === undefined ? since : atLeast(since) }, limit),
    lastGoodIngredients: (component) => oneOf(rows, ingredients, { component, good: 1, ingredients_json: NOT_NULL }),
  }) satisfies Partial<History>;
