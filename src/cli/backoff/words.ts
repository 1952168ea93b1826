/** The schedule in one sentence. */
import { formatDuration } from '../../base/pure/format.ts';
import type { LifecyclePolicy } from '../../supervision/rules/lifecycle/state.ts';
import { type Bounds, MAX_PLANNED, type Schedule } from '../../supervision/rules/restart/schedule.ts';
import { range } from './table.ts';

export interface Asked {
  /** Null: no component, but a policy made of defaults and options. */
  readonly name: string | null;
  readonly policy: LifecyclePolicy;
  readonly uptimeMs: number;
}

export function explanation(asked: Asked, planned: Schedule): string {
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

function whatIf({ uptimeMs, policy }: Asked): string {
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

function afterwards({ policy }: Asked, { quiet }: Schedule): string {
  const { retryMs } = policy.restart.limit;
  if (quiet === null || retryMs === null) return 'stays so until somebody starts it';
  const tries = `is then tried once every ${formatDuration(retryMs)}`;
  return quiet.verdict.kind === 'restart' ? `${tries}, and that run is one like any other again` : tries;
}

function window({ policy }: Asked, { restarts }: Schedule): string {
  const { max, withinMs } = policy.restart.limit;
  const most = Math.max(0, ...restarts.map(({ inWindow }) => inWindow));
  const fall = most === 1 ? '1 restart falls' : `${most} restarts fall`;
  return `never more than ${fall} into ${formatDuration(withinMs)}, and ${max} may`;
}

const lastWait = ({ restarts }: Schedule): string => range(restarts.at(-1)?.wait ?? { minMs: 0, maxMs: 0 });
