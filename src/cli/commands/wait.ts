/** keepwell wait: the building block for scripts. */
import { Option } from 'commander';
import { AppError } from '../../core/errors.ts';
import { formatDuration } from '../../core/format.ts';
import { GOALS, judgeGoal, type WaitGoal } from '../../core/goal.ts';
import type { ComponentView } from '../../core/views.ts';
import { type Definition, durationOption } from '../define.ts';
import { pause } from '../interrupt.ts';
import { noteOf } from '../print/status.ts';
import { readRecords } from '../records/read.ts';
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
  group: 'Look:',
  summary: 'wait until components are ready, running, stopped, completed or healthy',
  description:
    'Exit code 0 when all are, 5 when the time is up, 1 when one gave up, 4 when there is no such component.',
  options: [
    new Option('--for <STATE>', 'what to wait for').choices(GOALS).default('ready'),
    durationOption('--timeout <TIME>', 'how long to wait (then exit 5)', '2m'),
  ],
  examples: [
    ['keepwell wait api --for ready --timeout 30s', 'in scripts, before using api'],
    ['keepwell wait migrate --for completed', 'until a one-off is done'],
  ],
  handler: async (session, patterns, options) => {
    const { signal } = session;
    const until = performance.now() + options.timeout;
    for (;;) {
      const { value: all, offline } = await readRecords(session, (records) => records.status());
      const names = all.components.map(({ name }) => name);
      const targets = resolveTargets(patterns, names);
      const chosen = all.components.filter(({ name }) => targets.includes(name));
      const verdict = judge(chosen, options, performance.now() >= until);
      if (verdict !== 'pending') {
        session.printJson({ ...all, components: chosen });
        if (verdict === 'reached') return 0;
        throw verdict;
      }
      await pause(offline === null ? POLL_MS : OFFLINE_POLL_MS, signal);
    }
  },
};

function judge(chosen: readonly ComponentView[], options: Options, late: boolean): 'reached' | 'pending' | AppError {
  const missing = chosen.filter((view) => judgeGoal(view, options.for) !== 'reached');
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
