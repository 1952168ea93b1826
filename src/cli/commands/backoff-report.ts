/** A schedule of restarts for people and for programs. Loaded by `keepwell backoff` only. */

import { formatDuration } from '../../base/pure/format.ts';
import type { LifecyclePolicy } from '../../supervision/rules/lifecycle/state.ts';
import {
  type Bounds,
  MAX_PLANNED,
  type PlannedRestart,
  type Schedule,
  schedule,
} from '../../supervision/rules/restart/schedule.ts';
import type { Paint } from '../print/colour.ts';
import { type Cell, table } from '../print/table.ts';

export interface BackoffReport {
  /** For `-o json`. */
  readonly view: object;
  lines(paint: Paint, columns?: number): string[];
}

export function backoffReport(asked: ScheduleQuestion): BackoffReport {
  const { name, policy, uptimeMs } = asked;
  const planned = schedule(policy, uptimeMs);
  const sentence = explanation(asked, planned);
  return {
    view: {
      schema_version: 1,
      component: name,
      policy: policyView(policy),
      uptime_ms: uptimeMs,
      ...scheduleView(planned),
      explanation: sentence,
    },
    lines: (paint, columns) => {
      const rows = backoffTable(policy, planned, paint, columns);
      return rows.length === 0 ? [sentence] : [...rows, '', sentence];
    },
  };
}

function policyView({ restart }: LifecyclePolicy) {
  const { backoff, limit } = restart;
  return {
    policy: restart.policy,
    backoff: {
      initial_ms: backoff.initialMs,
      factor: backoff.factor,
      max_ms: backoff.maxMs,
      jitter: backoff.jitterRatio,
      reset_after_ms: backoff.resetAfterMs,
    },
    limit: { max: limit.max, within_ms: limit.withinMs, retry_ms: limit.retryMs },
  };
}

const boundsView = ({ minMs, maxMs }: Bounds) => ({ min: minMs, max: maxMs });

/** All times but the waits count from the first failure. */
const scheduleView = ({ restarts, givesUp, end, quiet }: Schedule) => ({
  restarts: restarts.map(({ number, wait, begins, inWindow }) => ({
    restart: number,
    wait_ms: boundsView(wait),
    begins_ms: boundsView(begins),
    in_window: inWindow,
  })),
  gives_up: givesUp,
  gave_up: end && {
    at_ms: boundsView(end.at),
    rule: end.verdict.rule,
    decision: end.verdict.text,
    next_try_in_ms: end.verdict.rule === 'observed' ? null : end.verdict.inMs,
  },
  quiet_retry: quiet && {
    begins_ms: boundsView(quiet.at),
    decision: quiet.verdict.text,
    next_try_in_ms: quiet.verdict.inMs,
  },
});

// The schedule as a table: one row per restart, then where it ends and what happens then.

const HEADER = ['RESTART', 'WAIT', 'SINCE FIRST FAILURE', 'LIMIT'] as const;

/** So many rows are shown one by one; above that, equal waits share a row. */
const MAX_PLAIN = 20;
/** And when there are no equal ones: the first and the last of them. */
const FIRST = 15;
const LAST = 5;

export function backoffTable(policy: LifecyclePolicy, planned: Schedule, paint: Paint, columns?: number): string[] {
  const rows = [...restartRows(policy, planned), ...endRows(policy, planned, paint)];
  return rows.length === 0 ? [] : table(HEADER, rows, columns);
}

/** "54 s to 1 min"; one value when both are the same to a reader. */
export function range({ minMs, maxMs }: Bounds): string {
  const [from, to] = [formatDuration(minMs), formatDuration(maxMs)];
  return from === to ? to : `${from} to ${to}`;
}

function restartRows({ restart }: LifecyclePolicy, { restarts, givesUp }: Schedule): Cell[][] {
  const groups = restarts.length <= MAX_PLAIN ? restarts.map((one) => [one]) : equalWaits(restarts);
  const within = ` in ${formatDuration(restart.limit.withinMs)}`;
  const rows = groups.map((group, index) => {
    const [first, last] = [group[0]!, group.at(-1)!];
    return cells(
      first === last ? String(first.number) : `${first.number} to ${last.number}`,
      range(first.wait),
      range({ minMs: first.begins.minMs, maxMs: last.begins.maxMs }),
      `${last.inWindow} of ${restart.limit.max}${index === 0 ? within : ''}`,
    );
  });
  const goesOn = givesUp === 'never' || givesUp === 'beyond' ? [cells('…', '', '', 'and so on')] : [];
  return [...shortened(rows), ...goesOn];
}

function equalWaits(restarts: readonly PlannedRestart[]): PlannedRestart[][] {
  const groups: PlannedRestart[][] = [];
  for (const one of restarts) {
    const group = groups.at(-1);
    if (group?.[0]?.wait.maxMs === one.wait.maxMs) group.push(one);
    else groups.push([one]);
  }
  return groups;
}

const shortened = (rows: readonly Cell[][]): Cell[][] =>
  rows.length <= MAX_PLAIN ? [...rows] : [...rows.slice(0, FIRST), cells('…', '', '', ''), ...rows.slice(-LAST)];

function endRows({ restart }: LifecyclePolicy, { end, quiet, givesUp }: Schedule, paint: Paint): Cell[][] {
  if (end === null || end.verdict.rule !== 'limit') return [];
  const { max, withinMs } = restart.limit;
  const used = max === 0 ? 'no restart is allowed' : `${max} of ${max} in ${formatDuration(withinMs)} are used`;
  const gaveUp = givesUp === 'perhaps' ? `${used}, if the waits were short` : used;
  const rows = [cells('gave-up', '', range(end.at), gaveUp, paint.red)];
  const { retryMs } = restart.limit;
  if (quiet && retryMs !== null) {
    const every = `again every ${formatDuration(retryMs)}`;
    const then = quiet.verdict.kind === 'restart' ? 'then restarts as above' : every;
    rows.push(cells('quiet retry', formatDuration(retryMs), range(quiet.at), then, paint.yellow));
  }
  return rows;
}

const cells = (number: string, wait: string, since: string, limit: string, brush: Cell['brush'] = String): Cell[] => [
  { text: number, brush },
  { text: wait },
  { text: since },
  { text: limit },
];

// The schedule in one sentence.

export interface ScheduleQuestion {
  /** Null: no component, but a policy made of defaults and options. */
  readonly name: string | null;
  readonly policy: LifecyclePolicy;
  readonly uptimeMs: number;
}

export function explanation(asked: ScheduleQuestion, planned: Schedule): string {
  const who = asked.name ?? 'A component with this policy';
  const { end } = planned;
  if (end?.verdict.rule === 'observed')
    return `${who} is only observed: nothing is started, it is watched until it comes back.`;
  if (end?.verdict.rule === 'policy-never')
    return `${who} is never restarted after a failure: its restart policy is never.`;
  const ends = `${whatIf(asked)}, ${asked.name ?? 'it'}`;
  switch (planned.givesUp) {
    case 'always':
      return `${ends} gives up ${counted(planned)}${since(end!.at)}, and ${afterwards(asked, planned)}.`;
    case 'perhaps':
      return `${ends} gives up ${counted(planned)} when chance makes the waits short, and ${afterwards(asked, planned)}; with longer waits it never does.`;
    case 'never':
      return `${ends} never gives up: ${window(asked, planned)}, so it is restarted for ever, ${lastWait(planned)} after each end.`;
    case 'beyond':
      return `${ends} is still being restarted after ${MAX_PLANNED} restarts, ${lastWait(planned)} after each end: its limit is ${asked.policy.restart.limit.max} in ${formatDuration(asked.policy.restart.limit.withinMs)}.`;
    default:
      throw new Error(`no such outcome: ${planned.givesUp satisfies never}`);
  }
}

function whatIf({ uptimeMs, policy }: ScheduleQuestion): string {
  if (uptimeMs === 0) return 'If every run fails at once';
  const stable = uptimeMs >= policy.restart.backoff.resetAfterMs;
  const well = stable ? ' (long enough to begin again at the first wait)' : '';
  return `If every run fails after ${formatDuration(uptimeMs)}${well}`;
}

function counted({ restarts }: Schedule): string {
  if (restarts.length === 0) return 'at its first failure';
  return restarts.length === 1 ? 'after 1 restart' : `after ${restarts.length} restarts`;
}

const since = (at: Bounds): string => (at.maxMs === 0 ? '' : `, ${range(at)} after the first failure`);

function afterwards({ policy }: ScheduleQuestion, { quiet }: Schedule): string {
  const { retryMs } = policy.restart.limit;
  if (quiet === null || retryMs === null) return 'stays so until somebody starts it';
  const tries = `is then tried once every ${formatDuration(retryMs)}`;
  return quiet.verdict.kind === 'restart' ? `${tries}, and that run is one like any other again` : tries;
}

function window({ policy }: ScheduleQuestion, { restarts }: Schedule): string {
  const { max, withinMs } = policy.restart.limit;
  const most = Math.max(0, ...restarts.map(({ inWindow }) => inWindow));
  const fall = most === 1 ? '1 restart falls' : `${most} restarts fall`;
  return `never more than ${fall} into ${formatDuration(withinMs)}, and ${max} may`;
}

const lastWait = ({ restarts }: Schedule): string => range(restarts.at(-1)?.wait ?? { minMs: 0, maxMs: 0 });
