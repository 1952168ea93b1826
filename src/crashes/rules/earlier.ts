/** How to speak of an error that a program had written before it died of something else. */
import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { CrashTail } from '../../logs/rules/tail.ts';
import type { EarlierError } from '../../supervision/rules/views.ts';
import type { CrashContext } from './crash.ts';
import { type Explanation, explainCrash } from './explain.ts';
import { ownReason } from './verdict.ts';

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
export const namedError = ({ type, message }: EarlierError): string =>
  [type, (message ?? '').split('\n', 1)[0]].filter((part) => part !== null && part !== '').join(': ');

/** It was the last thing that the program said, and it ended with a code of its own: such ends are told apart by it. */
export const endedAfter = (exit: ExitView, earlier: EarlierError | null | undefined): string =>
  exit.code === null || ownReason(exit) !== null || !earlier || earlier.lines_after > 0 || namedError(earlier) === ''
    ? ''
    : ` after ${namedError(earlier)}`;

// What the last output and the exit say together: the part of a dossier that is the same for whatever crashed.

export interface Dossier extends Explanation {
  readonly logTail: readonly string[];
}

export const OUT_OF_MEMORY = 'the kernel killed it because there was no memory left for it';

export function dossierOf(tail: CrashTail, exit: ExitView, context: CrashContext): Dossier {
  // What it wrote is not about a run that never began.
  const said = exit.spawn_error === null ? tail.text : '';
  const explained = explainCrash(said, exit, tail.ageMs === undefined ? context : { ...context, ageMs: tail.ageMs });
  const rootCause =
    exit.unhealthy ?? exit.spawn_error ?? (exit.oom ? OUT_OF_MEMORY : (explained.rootCause ?? plainCause(exit)));
  return { logTail: tail.lines, ...explained, rootCause };
}

const plainCause = (exit: ExitView): string | null => (exit.signal ? describeExit(exit) : null);
