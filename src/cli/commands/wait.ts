/** keepwell wait: the building block for scripts. */
import { Option } from 'commander';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import {
  GOALS,
  judgeGoal,
  keepsCrashing,
  type WaitGoal,
  type Watch,
  watchFrom,
  watchOn,
} from '../../supervision/rules/goal.ts';
import type { ComponentView, StatusView } from '../../supervision/rules/views.ts';
import type { CliCall } from '../call.ts';
import { type Definition, durationOption } from '../define.ts';
import { pause } from '../interrupt.ts';
import { noteOf } from '../print/status.ts';
import { readRecords } from '../records.ts';
import { describe } from '../settle.ts';
import { resolveTargets } from '../targets.ts';

interface Options {
  readonly for: WaitGoal;
  readonly timeout: number;
}

const POLL_MS = 150;
/** Without a daemon each look opens the records anew. */
const OFFLINE_POLL_MS = 1_000;

export const wait: Definition<Options> = {
  usage: 'wait <NAME...>',
  group: 'Start, stop, run:',
  summary: 'wait until components are ready, running, stopped, completed or healthy',
  description:
    'The exit code is 0 when all components are in that state, 5 when the time is up, 1 when one gave up, or has no probe and crashed twice meanwhile, ' +
    'and 4 when there is no such component. A component without a probe is ready once it has run for min_uptime, at most 2 s.',
  options: [
    new Option('--for <STATE>', 'what to wait for').choices(GOALS).default('ready'),
    durationOption('--timeout <TIME>', 'how long to wait (then exit 5)', '2m'),
  ],
  examples: [
    ['keepwell wait api --for ready --timeout 30s', 'in scripts, before using api'],
    ['keepwell wait migrate --for completed', 'until a one-off job is done'],
  ],
  handler: async (call, patterns, options) => {
    const { status, problem } = await untilGoal(call, patterns, options);
    call.printJson(status);
    if (problem !== null) throw problem;
    return 0;
  },
};

export interface GoalOutcome {
  /** Of those that were waited for. */
  readonly status: StatusView;
  /** Why the goal was not reached; null: it was. */
  readonly problem: AppError | null;
}

/** Until all of them are there, one of them cannot get there, or the time is up. */
export async function untilGoal(
  call: CliCall,
  patterns: readonly string[],
  options: Options,
  signal: AbortSignal = call.signal,
): Promise<GoalOutcome> {
  const until = performance.now() + options.timeout;
  const watched = new Map<string, Watch>();
  for (;;) {
    const { value: all, offline } = await readRecords(call, (records) => records.status());
    const names = all.components.map(({ name }) => name);
    const targets = resolveTargets(patterns, names);
    const chosen = all.components.filter(({ name }) => targets.includes(name));
    for (const view of chosen) {
      const before = watched.get(view.name);
      watched.set(view.name, before ? watchOn(before, view) : watchFrom(view));
    }
    const status = { ...all, components: chosen };
    const verdict = judge(chosen, options, performance.now() >= until);
    if (verdict !== 'pending') return { status, problem: verdict === 'reached' ? null : verdict };
    const crashing = chosen.find((view) => judgeGoal(view, options.for, watched.get(view.name)!) === 'crashing');
    if (crashing) {
      const { name } = crashing;
      const { value } = await readRecords(call, (records) => records.crashes({ component: name, limit: 1 }));
      return { status, problem: keepsCrashing(crashing, watched.get(name)!, value.crashes[0]) };
    }
    await pause(offline === null ? POLL_MS : OFFLINE_POLL_MS, signal);
  }
}

function judge(chosen: readonly ComponentView[], options: Options, late: boolean): 'reached' | 'pending' | AppError {
  const missing = chosen.filter((view) => judgeGoal(view, options.for, watchFrom(view)) !== 'reached');
  if (missing.length === 0) return 'reached';
  const gone = missing.find(({ state }) => state === 'gave-up');
  if (gone) {
    return new AppError('COMPONENT_GAVE_UP', {
      problem: `${gone.name} ${noteOf(gone) || 'gave up'}.`,
      name: gone.name,
    });
  }
  if (!late) return 'pending';
  const pending = missing.map(describe).join('; ');
  return new AppError('WAIT_TIMEOUT', { after: formatDuration(options.timeout), pending });
}
