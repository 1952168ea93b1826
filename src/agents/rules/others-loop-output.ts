/**
 * What an agent of others said before it died. It inherited the output of whoever started it, so its last words stand in that log,
 * with lines of others before and behind them.
 */

import type { ExitView } from '../../base/pure/exit.ts';
import type { CrashContext } from '../../crashes/rules/crash.ts';
import type { Dossier } from '../../crashes/rules/explain.ts';
import { dossierOf } from '../../crashes/rules/explain.ts';
import type { CrashTail } from '../../logs/rules/tail.ts';

export interface LoopOutput {
  /** Whose log it is. */
  readonly component: string;
  /** What was written into it from when the agent was last seen alive until it was first seen dead. */
  readonly tail: CrashTail;
  /** More than one agent of this log died meanwhile: an error is theirs only if there is no other. */
  readonly several: boolean;
}

/** Lines of others that may follow the last words of an agent within the second in which it died. */
const MAX_CUT_LINES = 100;

/** Without an error in it, the dossier says what the exit alone says. */
export function dossierFrom({ component, tail, several }: LoopOutput, exit: ExitView, context: CrashContext): Dossier {
  const { text } = tail;
  const logTail = tail.lines.length === 0 ? [] : [`in the log of ${component}, when it died:`, ...tail.lines];
  const found: Dossier[] = [];
  for (let end = text.length, cuts = 0; end > 0 && cuts <= MAX_CUT_LINES; cuts += 1) {
    const explained = dossierOf({ text: text.slice(0, end), lines: [] }, exit, context);
    if (explained.errorType !== null) found.push(explained);
    end = text.lastIndexOf('\n', Math.min(end, beginOf(explained, text.slice(0, end))) - 2) + 1;
  }
  const [last] = found;
  const isCertain = !several || new Set(found.map(errorOf)).size === 1;
  const nothing = dossierOf({ text: '', lines: [] }, exit, context);
  return { ...(last && isCertain ? last : nothing), logTail };
}

/** Where the error was printed: half of a stack would look like another error ("raise ValueError(…)"). Infinity: it has none. */
function beginOf({ stack: [first], errorType }: Dossier, text: string): number {
  const at = errorType === null || first === undefined ? -1 : text.lastIndexOf(first);
  return at < 0 ? Number.POSITIVE_INFINITY : text.lastIndexOf('\n', at) + 2;
}

const errorOf = ({ errorType, errorMessage }: Dossier): string => `${errorType}\n${errorMessage}`;
