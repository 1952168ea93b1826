/** What somebody can wait for, and whether it has come. */
import { AppError } from '../../base/pure/errors.ts';
import { describeExit } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { ComponentView, CrashView } from './views.ts';

export const GOALS = ['ready', 'running', 'healthy', 'stopped', 'completed'] as const;
export type WaitGoal = (typeof GOALS)[number];

/** What has become of a component since somebody began to wait for it. */
export interface Watch {
  readonly crashes: number;
  /** Its last end that was seen. */
  readonly exitAt: string | null;
}

export const watchFrom = (view: ComponentView | null | undefined): Watch => ({
  crashes: 0,
  exitAt: view?.last_exit?.at ?? null,
});

/** After one more look. */
export function watchOn({ crashes, exitAt }: Watch, { last_exit }: ComponentView): Watch {
  if (last_exit === null || last_exit.at === exitAt) return { crashes, exitAt };
  return { crashes: crashes + (last_exit.crash ? 1 : 0), exitAt: last_exit.at };
}

/** Once may be bad luck, and the restart helps; twice is the way it is. */
const TOO_MANY_CRASHES = 2;

/** Somebody asks it (a probe, a health check), or it has lived for a moment. */
const hasLived = ({ uptime_ms, trial_ms }: ComponentView): boolean => trial_ms === null || (uptime_ms ?? 0) >= trial_ms;

/** Has it shown that it works? `ready` alone is true of what nobody asks from its very first millisecond. */
export const isUp = (view: ComponentView): boolean => view.ready && hasLived(view);

/** It dies again and again while somebody waits. What is asked by a probe is waited for as long as that somebody wants to. */
export const isCrashing = (view: ComponentView, { crashes }: Watch): boolean =>
  view.trial_ms !== null && crashes >= TOO_MANY_CRASHES && !isUp(view);

/** Reached, still to come, or never: it has given up or dies again and again, and what is waited for is not its end. */
export function judgeGoal(
  view: ComponentView,
  goal: WaitGoal,
  watch: Watch,
): 'reached' | 'pending' | 'given-up' | 'crashing' {
  if (isReached(view, goal)) return 'reached';
  if (view.state === 'gave-up') return 'given-up';
  return (goal === 'ready' || goal === 'healthy') && isCrashing(view, watch) ? 'crashing' : 'pending';
}

function isReached(view: ComponentView, goal: WaitGoal): boolean {
  const { state, health, condition } = view;
  switch (goal) {
    case 'ready':
      return isUp(view);
    case 'running':
      return state === 'running' && condition !== 'engine-unreachable';
    case 'completed':
      return state === 'completed';
    case 'healthy':
      return health === 'healthy' && hasLived(view);
    case 'stopped':
      return state === 'stopped' || state === 'completed';
    default:
      throw new Error(`no such goal: ${goal satisfies never}`);
  }
}

export const gaveUp = ({ name, note }: ComponentView): AppError =>
  new AppError('COMPONENT_GAVE_UP', { problem: `${name}: ${note ?? 'it gave up'}.`, name });

/** `newest`: its newest crash on record, which knows the cause. */
export const keepsCrashing = (view: ComponentView, watch: Watch, newest: CrashView | undefined): AppError =>
  new AppError('COMPONENT_CRASHED', { problem: `${crashedText(view, watch, newest)}.`, name: view.name });

/** "a crashed twice during this command: exit code 1: Cannot find module '/srv/missing.js'"; an exit code of 0 is an end, not a crash. */
export function crashedText({ name, last_exit }: ComponentView, { crashes }: Watch, newest?: CrashView): string {
  const times = crashes === 1 ? 'once' : crashes === 2 ? 'twice' : `${crashes} times`;
  const how = last_exit ? describeExit(last_exit) : 'ended';
  const isSame = newest !== undefined && describeExit(newest.exit) === how; // one more may be on record by now
  const [known = ''] = (isSame ? (newest.error_message ?? newest.root_cause ?? '') : '').split('\n');
  const cause = known === '' || how.includes(known) ? '' : `: ${known}`; // what kept it from starting is said already
  const what = last_exit?.code === 0 ? 'ended' : 'crashed';
  return `${name} ${what} ${times} during this command: ${how}${cause}`;
}

/** `view`: how it was last seen; null: it was not there. */
export const waitedTooLong = (name: string, view: ComponentView | null, timeoutMs: number): AppError =>
  new AppError('WAIT_TIMEOUT', { after: formatDuration(timeoutMs), pending: view ? describe(view) : `no "${name}"` });

/** "running, but for less than 2 s": why what is ready is not up yet; null: it is. */
export const tooYoung = (view: ComponentView): string | null =>
  view.ready && !hasLived(view) ? `running, but for less than ${formatDuration(view.trial_ms ?? 0)}` : null;

/** Nobody asks it, or it cannot be asked: that is not a no. */
export const notReady = ({ health }: ComponentView): string =>
  health === 'unknown' ? 'running, ready or not is not known' : 'running but not ready';

function describe(view: ComponentView): string {
  const { name, state, ready, note } = view;
  const how = tooYoung(view) ?? (state === 'running' && !ready ? notReady(view) : state);
  return `${name} is ${how}${note === null ? '' : ` (${note})`}`;
}
