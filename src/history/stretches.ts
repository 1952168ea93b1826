/** Stretches of probe answers, of samples and of check results. One that goes on keeps its key, and is written over itself. */

import type { ComponentName, RunId, WallMs } from '../base/pure/ids.ts';
import type { Row, SqlValue } from '../base/sqlite.ts';
import type { CheckStretch } from '../checks/rules/view.ts';
import { ROLES } from '../supervision/rules/health/probe.ts';
import type { ProbeStretch, Stretch } from '../supervision/rules/health/stretch.ts';
import type { SampleStretch } from '../supervision/rules/usage/stretch.ts';
import { num, numOrNull, str, whole, wholeOrNull } from './cells.ts';
import type { History } from './ports.ts';
import { atLeast, type Columns, newestOf, type Rows, table } from './table.ts';

const STRETCH: Columns<Stretch> = {
  message: ({ message }) => message,
  last_at: ({ lastAt }) => whole(lastAt),
  count: ({ count }) => whole(count),
  last_ms: ({ lastMs }) => whole(lastMs),
  max_ms: ({ maxMs }) => whole(maxMs),
};

const stretchOf = (row: Row): Stretch => ({
  message: str(row['message']),
  firstAt: num(row['first_at']) as WallMs,
  lastAt: num(row['last_at']) as WallMs,
  count: num(row['count']),
  lastMs: num(row['last_ms']),
  maxMs: num(row['max_ms']),
});

/** The component goes with the run and is written once: to overwrite an indexed column costs more than all the others together. */
export const PROBES = {
  ...table<ProbeStretch>({
    table: 'probe_results',
    since: 2,
    key: { run_id: ({ run }) => run, role: ({ role }) => role, first_at: ({ firstAt }) => whole(firstAt) },
    once: { component: ({ component }) => component },
    columns: { question: ({ question }) => question, outcome: ({ outcome }) => outcome, ...STRETCH },
    order: ['first_at', 'run_id', 'role'],
    per: 'component',
  }),
  /** Null for a role that is none: nobody could show it. */
  item: (row: Row): ProbeStretch | null => {
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
  },
};

/** What cannot be read is nobody's failure. */
const outcomeOf = (cell: SqlValue | undefined): ProbeStretch['outcome'] =>
  cell === 'pass' || cell === 'fail' ? cell : 'inconclusive';

export const CHECK_RESULTS = {
  ...table<CheckStretch>({
    table: 'check_results',
    since: 5,
    key: { check_name: ({ check }) => check, first_at: ({ firstAt }) => whole(firstAt) },
    columns: { status: ({ status }) => status, ...STRETCH },
    order: ['first_at'],
    per: 'check_name',
  }),
  item: (row: Row): CheckStretch => ({
    check: str(row['check_name']),
    status: statusOf(row['status']),
    ...stretchOf(row),
  }),
};

/** What cannot be read must not pass for good news. */
const statusOf = (cell: SqlValue | undefined): CheckStretch['status'] =>
  cell === 'ok' || cell === 'skipped' ? cell : 'failed';

/** A hundredth of a percent is what a clock tick of 10 ms in a minute comes to. */
const finePercent = (percent: number): number => (Number.isFinite(percent) ? Math.round(percent * 100) / 100 : 0);

export const SAMPLES = {
  ...table<SampleStretch>({
    table: 'samples',
    since: 3,
    key: { run_id: ({ run }) => run, first_at: ({ firstAt }) => whole(firstAt) },
    once: { component: ({ component }) => component },
    columns: {
      last_at: ({ lastAt }) => whole(lastAt),
      count: ({ count }) => whole(count),
      cpu_percent: ({ cpuPercent }) => (cpuPercent === null ? null : finePercent(cpuPercent)),
      memory_bytes: ({ memoryBytes }) => whole(memoryBytes),
      memory_max_bytes: ({ memoryMaxBytes }) => whole(memoryMaxBytes),
      fds: ({ fds }) => wholeOrNull(fds),
      threads: ({ threads }) => whole(threads),
      processes: ({ processes }) => whole(processes),
    },
    order: ['first_at', 'run_id'],
    per: 'component',
  }),
  item: (row: Row): SampleStretch => ({
    component: str(row['component']) as ComponentName,
    run: str(row['run_id']) as RunId,
    firstAt: num(row['first_at']) as WallMs,
    lastAt: num(row['last_at']) as WallMs,
    count: num(row['count']),
    cpuPercent: numOrNull(row['cpu_percent']),
    memoryBytes: num(row['memory_bytes']),
    memoryMaxBytes: num(row['memory_max_bytes']),
    fds: numOrNull(row['fds']),
    threads: num(row['threads']),
    processes: num(row['processes']),
  }),
};

/** By their names in a commit. */
export const STRETCHES = { probed: PROBES, sampled: SAMPLES, checked: CHECK_RESULTS } as const;

const from = (since: WallMs | undefined) => (since === undefined ? since : atLeast(since));

export const stretchQuestions = (rows: Rows) =>
  ({
    probes: ({ component, run, since, limit }) =>
      newestOf(rows, PROBES, { component, run_id: run, last_at: from(since) }, limit),
    samples: ({ component, since, limit }) => newestOf(rows, SAMPLES, { component, last_at: from(since) }, limit),
    checkResults: ({ check, limit }) => newestOf(rows, CHECK_RESULTS, { check_name: check }, limit),
  }) satisfies Partial<History>;
