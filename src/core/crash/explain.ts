/** All that the last output of a program tells about its end, for the record of the crash. */
import type { ExitView } from '../exit.ts';
import { causeIn } from './causes/root-cause.ts';
import type { CrashContext, ParsedCrash } from './crash.ts';
import { fingerprint, fingerprintOfEnd } from './fingerprint.ts';
import { type LogLine, readLines } from './lines.ts';
import { crashIn } from './parse.ts';

export interface Explanation {
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  /** Null: the output tells nothing that its exit does not tell. */
  readonly rootCause: string | null;
  readonly stack: readonly string[];
  readonly relatedFiles: readonly string[];
  readonly fingerprint: string;
}

/** The last words of a program are among so many lines. */
const LAST_LINES = 20;
const MAX_WORDS_CHARS = 500;

const COMPLAINT =
  /\b(?:error|fatal|panic|emerg|alert|crit(?:ical)?|exception|fail(?:ed|ure)?|cannot|can't|could not|couldn't|unable|denied|refused|not found|no such|missing|invalid|unknown|unexpected|abort(?:ed|ing)?|killed|segmentation fault|already in use|out of memory|timed? ?out|unrecognized|required|not set|terminate called|what\(\)|assertion)\b/i;

export function explainCrash(tail: string, exit: ExitView, context: CrashContext = {}): Explanation {
  const lines = readLines(tail);
  const known = { ...context, exit };
  const crash = saysItself(exit) ? null : crashIn(lines, known, wasEndedByOthers(exit));
  if (crash !== null) return ofCrash(crash, known);
  const words = saysItself(exit) || wasEndedByOthers(exit) ? null : lastWords(lines, exit);
  return {
    errorType: null,
    errorMessage: words,
    rootCause: words === null ? null : causeIn(words, known),
    stack: [],
    relatedFiles: [],
    fingerprint: fingerprintOfEnd(exit, words, context),
  };
}

function ofCrash(crash: ParsedCrash, context: CrashContext): Explanation {
  return {
    errorType: crash.errorType,
    errorMessage: crash.message,
    rootCause: crash.rootCause,
    stack: crash.stack,
    relatedFiles: crash.relatedFiles,
    fingerprint: fingerprint(crash, context),
  };
}

/** Nothing that it wrote can be more to the point. */
const saysItself = (exit: ExitView): boolean => exit.oom || exit.spawn_error !== null;

/** A person or we ended it: what it complained about long before is another story. */
const wasEndedByOthers = (exit: ExitView): boolean =>
  exit.unhealthy !== null || exit.signal === 'SIGKILL' || exit.signal === 'SIGTERM';

/** The last line that complains; without one, the last line, unless a signal ended it. */
function lastWords(lines: readonly LogLine[], exit: ExitView): string | null {
  const last = lines
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .slice(-LAST_LINES);
  const words = last.findLast((text) => COMPLAINT.test(text)) ?? (exit.signal === null ? last.at(-1) : undefined);
  return words === undefined ? null : words.slice(0, MAX_WORDS_CHARS);
}
