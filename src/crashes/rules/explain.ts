/** All that the last output of a program tells about its end, for the record of the crash. */

import type { ExitView } from '../../base/pure/exit.ts';
import type { EarlierError } from '../../supervision/rules/views.ts';
import { causeIn } from './causes/root-cause.ts';
import type { CrashContext, Found, ParsedCrash } from './crash.ts';
import { fingerprint, fingerprintOfEnd } from './fingerprint.ts';
import { lastWords, type Words } from './last-words.ts';
import { type LogLine, readLines } from './lines.ts';
import { ownReason } from './own-reason.ts';
import { errorsIn, readCrash, scriptErrorsIn } from './parse.ts';
import { type Verdict, verdictOn } from './verdict.ts';

export interface Explanation {
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  /** Null: the output tells nothing that its exit does not tell. */
  readonly rootCause: string | null;
  readonly stack: readonly string[];
  readonly relatedFiles: readonly string[];
  /** An error that it had written before, and did not die of; null: none, or the cause is known. */
  readonly earlier: EarlierError | null;
  readonly fingerprint: string;
}

export function explainCrash(tail: string, exit: ExitView, context: CrashContext = {}): Explanation {
  const lines = readLines(tail);
  const texts = lines.map(({ text }) => text);
  const known = { ...context, exit };
  const errors = errorsIn(texts);
  const scripts = scriptErrorsIn(texts);
  const verdict = verdictOn(errors, lines, exit, known);
  const cause = verdict.cause ?? verdictOn(scripts, lines, exit, known).cause;
  if (cause !== null) return ofCrash(readCrash(cause, texts, known), known);
  const words = ownReason(exit) === null ? lastWords(lines, errors, exit) : null;
  return ofEnd({ verdict, words, lines, texts }, exit, known);
}

function ofCrash(crash: ParsedCrash, context: CrashContext): Explanation {
  return {
    errorType: crash.errorType,
    errorMessage: crash.message,
    rootCause: crash.rootCause,
    stack: crash.stack,
    relatedFiles: crash.relatedFiles,
    earlier: null,
    fingerprint: fingerprint(crash, context),
  };
}

interface Ending {
  readonly verdict: Verdict;
  readonly words: Words | null;
  readonly lines: readonly LogLine[];
  readonly texts: readonly string[];
}

/** No error in its output is the cause: what remains is how it ended, and what it said last. */
function ofEnd({ verdict, words, lines, texts }: Ending, exit: ExitView, context: CrashContext): Explanation {
  const { earlier } = verdict;
  const crash = earlier === null ? null : readCrash(earlier.found, texts, context);
  // What it wrote right before it ended with a code of its own tells two such ends apart, cause or not.
  const isLast = earlier?.isLast === true && words === null && exit.code !== null && ownReason(exit) === null;
  return {
    errorType: words?.type ?? null,
    errorMessage: words?.message ?? null,
    rootCause: words?.isComplaint ? (causeIn(words.line, context) ?? words.line) : null,
    stack: [],
    relatedFiles: [],
    earlier: crash === null ? null : earlierOf(crash, earlier!, lines, context),
    fingerprint: fingerprintOfEnd(
      exit,
      isLast ? lettersOf(fingerprint(crash!, context)) : (words?.line ?? null),
      context,
    ),
  };
}

/** Digits in words are dropped, those of a fingerprint must not be. */
const lettersOf = (print: string): string => print.replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!);

function earlierOf(
  crash: ParsedCrash,
  { found, linesAfter }: { readonly found: Found; readonly linesAfter: number },
  lines: readonly LogLine[],
  { ageMs }: CrashContext,
): EarlierError {
  return {
    type: crash.errorType,
    message: crash.message,
    summary: crash.rootCause,
    age_ms: ageMs?.(lines[found.last]!.fromEnd) ?? null,
    lines_after: linesAfter,
    stack: crash.stack,
    related_files: crash.relatedFiles,
  };
}
