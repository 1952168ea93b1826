/** How to speak of an error that a program had written before it died of something else. */

import type { ExitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { EarlierError } from '../../supervision/rules/views.ts';

/**
 * The reason of an end that is known without the output: ours, nobody's because there was no run, or the kernel's. What a program wrote,
 * also because of our signal, never explains such an end. Null: the program ended by itself or was killed.
 */
export function ownReason(exit: ExitView): 'ended-by-us' | 'never-started' | 'out-of-memory' | null {
  if (exit.unhealthy !== null) return 'ended-by-us';
  if (exit.spawn_error !== null) return 'never-started';
  return exit.oom ? 'out-of-memory' : null;
}

/** Shorter than that is as good as at once: log times are known to about a second. */
const AT_ONCE_MS = 2_000;

/** "12 s before", "right before the end", "27 lines before the end". */
export function howEarly({ age_ms: ageMs, lines_after: lines }: EarlierError): string {
  if (ageMs !== null && (ageMs >= AT_ONCE_MS || lines === 0))
    return ageMs < AT_ONCE_MS ? 'right before the end' : `${formatDuration(ageMs)} before`;
  if (lines === 0) return 'right before the end';
  return `${lines} ${lines === 1 ? 'line' : 'lines'} before the end`;
}

/** "KeyError: 'price'" */
const namedError = ({ type, message }: EarlierError): string =>
  [type, (message ?? '').split('\n', 1)[0]].filter((part) => part !== null && part !== '').join(': ');

/** It was the last thing that the program said, and it ended with a code of its own: such ends are told apart by it. */
export const endedAfter = (exit: ExitView, earlier: EarlierError | null | undefined): string =>
  exit.code === null || ownReason(exit) !== null || !earlier || earlier.lines_after > 0 || namedError(earlier) === ''
    ? ''
    : ` after ${namedError(earlier)}`;
