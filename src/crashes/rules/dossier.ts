/** What the last output and the exit say together: the part of a dossier that is the same for whatever crashed. */
import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import type { CrashTail } from '../../logs/rules/tail.ts';
import type { CrashContext } from './crash.ts';
import { type Explanation, explainCrash } from './explain.ts';

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
