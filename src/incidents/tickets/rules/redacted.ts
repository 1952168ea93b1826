/**
 * Evidence without secrets, each text by itself. Once texts are put together, quoted and cut to their first line, a secret in them
 * may not be recognised any more.
 */

import { redact } from '../../../base/pure/redact.ts';
import type { EarlierError, Subject } from '../../../supervision/rules/views.ts';
import type { Circumstances, CrashEvidence, Evidence, ProblemEvidence } from './evidence.ts';

type Hide = (text: string, fromEnd?: boolean) => string;

/** Nobody writes more than this into one of these, and an expression should not see more. */
const MAX_CHARS = 64 * 1024;

export const redacted = (evidence: Evidence, known: readonly string[]): Evidence => {
  const hide = hiding(known);
  return evidence.kind === 'crash'
    ? { kind: 'crash', crash: crashWithout(evidence.crash, hide) }
    : { kind: 'problem', problem: problemWithout(evidence.problem, hide) };
};

export function redactedCircumstances(about: Circumstances): Circumstances {
  const hide = hiding(about.secrets ?? []);
  // An option and its value are two words, so both ways are needed.
  const words = about.command?.map((each) => hide(each)) ?? null;
  return { ...about, command: words, cwd: orNull(about.cwd, hide), assignedTo: orNull(about.assignedTo, hide) };
}

const hiding =
  (known: readonly string[]): Hide =>
  (text, fromEnd = false) => {
    const isCut = text.length > MAX_CHARS;
    if (fromEnd) return redact(text.slice(-MAX_CHARS), known, { start: isCut });
    return redact(text.slice(0, MAX_CHARS), known, { end: isCut });
  };

const orNull = (text: string | null, hide: Hide): string | null => (text === null ? null : hide(text));
const named = ({ kind, name }: Subject, hide: Hide): Subject => ({ kind, name: hide(name) });
/** A key may take several lines. The last ones tell most. */
const lines = (all: readonly string[], hide: Hide): readonly string[] =>
  all.length === 0 ? [] : hide(all.join('\n'), true).split('\n');

function crashWithout(crash: CrashEvidence, hide: Hide): CrashEvidence {
  const { agentType, taskId, freeze } = crash;
  return {
    ...crash,
    subject: named(crash.subject, hide),
    decision: hide(crash.decision),
    exit: {
      ...crash.exit,
      unhealthy: orNull(crash.exit.unhealthy, hide),
      spawn_error: orNull(crash.exit.spawn_error, hide),
    },
    logTail: lines(crash.logTail, hide),
    changedSinceGood: crash.changedSinceGood?.map((each) => hide(each)) ?? null,
    errorType: orNull(crash.errorType, hide),
    errorMessage: orNull(crash.errorMessage, hide),
    rootCause: orNull(crash.rootCause, hide),
    stack: lines(crash.stack ?? [], hide),
    relatedFiles: (crash.relatedFiles ?? []).map((each) => hide(each)),
    ...(crash.earlier ? { earlier: earlierWithout(crash.earlier, hide) } : {}),
    ...(agentType === undefined ? {} : { agentType: hide(agentType) }),
    ...(taskId === undefined ? {} : { taskId: hide(taskId) }),
    ...(freeze === undefined
      ? {}
      : { freeze: { ...freeze, reason: hide(freeze.reason), evidence: lines(freeze.evidence, hide) } }),
  };
}

const earlierWithout = (earlier: EarlierError, hide: Hide): EarlierError => ({
  ...earlier,
  type: orNull(earlier.type, hide),
  message: orNull(earlier.message, hide),
  summary: hide(earlier.summary),
  stack: lines(earlier.stack, hide),
  related_files: earlier.related_files.map((each) => hide(each)),
});

const problemWithout = (problem: ProblemEvidence, hide: Hide): ProblemEvidence => ({
  ...problem,
  subject: named(problem.subject, hide),
  title: hide(problem.title),
  rootCause: hide(problem.rootCause),
  assignedTo: orNull(problem.assignedTo, hide),
  evidence: lines(problem.evidence, hide),
  reproduction: problem.reproduction.map((each) => hide(each)),
  relatedFiles: problem.relatedFiles.map((each) => hide(each)),
});
