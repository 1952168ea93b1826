/** What somebody can wait for, and whether it has come. */
import { AppError } from './errors.ts';
import { formatDuration } from './format.ts';
import type { ComponentView } from './views.ts';

export const GOALS = ['ready', 'running', 'healthy', 'stopped', 'completed'] as const;
export type WaitGoal = (typeof GOALS)[number];

/** Reached, still to come, or never: the component has given up, and what is waited for is not its end. */
export function judgeGoal(view: ComponentView, goal: WaitGoal): 'reached' | 'pending' | 'given-up' {
  if (isReached(view, goal)) return 'reached';
  return view.state === 'gave-up' ? 'given-up' : 'pending';
}

function isReached({ ready, state, health, condition }: ComponentView, goal: WaitGoal): boolean {
  switch (goal) {
    case 'ready':
      return ready;
    case 'running':
      return state === 'running' && condition !== 'engine-unreachable';
    case 'completed':
      return state === 'completed';
    case 'healthy':
      return health === 'healthy';
    case 'stopped':
      return state === 'stopped' || state === 'completed';
    default:
      throw new Error(`no such goal: ${goal satisfies never}`);
  }
}

export const gaveUp = ({ name, note }: ComponentView): AppError =>
  new AppError('COMPONENT_GAVE_UP', { problem: `${name}: ${note ?? 'it gave up'}.`, name });

/** `view`: how it was last seen; null: it was not there. */
export const waitedTooLong = (name: string, view: ComponentView | null, timeoutMs: number): AppError =>
  new AppError('WAIT_TIMEOUT', { after: formatDuration(timeoutMs), pending: view ? describe(view) : `no "${name}"` });

function describe({ name, state, ready, note }: ComponentView): string {
  const how = state === 'running' && !ready ? 'running but not ready' : state;
  return `${name} is ${how}${note === null ? '' : ` (${note})`}`;
}
