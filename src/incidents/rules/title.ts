/** An incident in one line: whose, and what. */
import type { EarlierError } from '../../crashes/rules/crash.ts';
import { endedAfter } from '../../crashes/rules/earlier.ts';
import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import { SIMULATED_TITLE, type Simulation } from '../../supervision/rules/simulation.ts';
import type { Subject } from '../../supervision/rules/views.ts';

const MAX_TITLE_CHARS = 200;
const CONTROL = /\p{Cc}+/gu;

interface Titled {
  readonly subject: Subject;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  readonly exit: ExitView;
  readonly earlier?: EarlierError | null;
  readonly simulated?: Simulation;
}

export function titleOf({ subject, errorType, errorMessage, exit, earlier, simulated }: Titled): string {
  const mark = simulated === undefined ? '' : SIMULATED_TITLE;
  // What it says while we end it is not why.
  if (exit.unhealthy !== null) return shortTitle(`${mark}${subject.name}: ${exit.unhealthy}`);
  const said = [errorType, errorMessage].filter((part) => part !== null && part !== '').join(': ');
  return shortTitle(
    `${mark}${subject.name}: ${said === '' ? `${describeExit(exit)}${endedAfter(exit, earlier)}` : said}`,
  );
}

/** One line, and not a long one. */
export function shortTitle(text: string): string {
  const line = text.replace(CONTROL, ' ').trim();
  return line.length > MAX_TITLE_CHARS ? `${line.slice(0, MAX_TITLE_CHARS - 1)}…` : line;
}
