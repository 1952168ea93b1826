/** All that the last output of a program tells about its end, for the record of the crash. */

import type { ExitView } from '../../base/pure/exit.ts';
import { describeExit } from '../../base/pure/exit.ts';
import type { CrashTail } from '../../logs/rules/tail.ts';
import type { EarlierError } from '../../supervision/rules/views.ts';
import type { CrashContext, FoundCrash, ParsedCrash } from './crash.ts';
import { ownReason } from './earlier.ts';
import { fingerprint, fingerprintOfEnd } from './fingerprint.ts';
import { type LogLine, readLines } from './lines.ts';
import { errorsIn, readCrash, scriptErrorsIn } from './parse.ts';
import { causeIn } from './root-cause.ts';
import { isAdvice, isFarewell, isRemark, isRequest, isUsageText, type Verdict, verdictOn } from './verdict.ts';

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
  { found, linesAfter }: { readonly found: FoundCrash; readonly linesAfter: number },
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

// What a program without a readable stack says last: a complaint right before its end is why it ended; an older one is not.

export interface Words {
  /** The line as a whole. */
  readonly line: string;
  /** "ImportError", when the line names one. */
  readonly type: string | null;
  readonly message: string;
  /** It says that something went wrong; otherwise it is just the last line. */
  readonly isComplaint: boolean;
}

/** The last words of a program are among so many lines. */
const LAST_LINES = 20;
const MAX_WORDS_CHARS = 500;

const COMPLAINT =
  /\b(?:err(?:or)?|fatal|panic|emerg|alert|crit(?:ical)?|exception|fail(?:ed|ure|s)?|cannot|can't|could not|couldn't|unable|denied|refused|not found|no such|missing|invalid|unknown|unexpected|abort(?:ed|ing)?|killed|segmentation fault|already in use|out of memory|timed? ?out|unrecognized|required|not (?:set|defined|supported|allowed|available|valid|readable|writable|configured|installed|a valid|recogni[sz]ed|accepted)|no (?:route|rule|default|matching|valid|usable)|undefined|undeclared|terminate called|what\(\)|assertion|not a (?:directory|file)|too many|no space|not permitted|unsupported|illegal|corrupt(?:ed)?|incompatible|mismatch|does not (?:exist|match)|must be|expect(?:ed|ing))\b/i;
/** What is not as it has to be, in words that are no complaint in every text: the last line of a program that failed is none by chance. */
const WANTING =
  /\b(?:expired|insufficient|exceed(?:s|ed)|unreachable|unterminated|unmatched|unbalanced|malformed|truncated|incomplete|ambiguous|unresolved|rejected|forbidden|unauthori[sz]ed|(?:bad|wrong) [a-z]{2,20}|needs?|requires?|at least|at most|no longer|too (?:large|big|small|old|new|few|long|short|low|high|much|deep)|out of (?:range|date|sync|order|space|bounds)|(?:is|are|was|were|do|does|did|has|have|had|could|can|may|should|will|would) ?(?:not|n't)|(?:is|are|was|were) (?:sealed|locked|full|gone|lost|down|closed|broken|unhealthy|busy|taken|blocked|disabled|outdated|stale|empty|absent|unknown)|please (?:export|set|install|run|check|provide|specify|use|make|update|upgrade|add|configure|create|define|ensure|log in|try))\b/i;
/** "Set DEPLOY_ENV first": what it would have needed. */
const ASKED_FOR = /^(?:Set|Export|Define|Provide|Specify|Add) [`'"$]?[A-Z][A-Z0-9_]{2,60}\b/;
/** The marks with which tools begin what went wrong, and the name of the program itself, as Unix tools do. */
const MARKED =
  /^(?:[✖✗✘❌⨯‼🚨💥⛔]|(?:\S{0,200}\/)?(?:[\w.-]{1,60}\.(?:sh|bash|py|rb|pl|php|[cm]?js)|sed|g?awk|e?grep|tar|cp|mv|rm|ln|ls|cat|chmod|chown|mkdir|mount|find|xargs|sort|curl|wget|git|ssh|scp|rsync|unzip|gzip|jq|dd|env|install|docker|kubectl|psql|mysql|openssl|gcc|g\+\+|ld|cc|make|node|python3?|ruby|perl|php|java|bash|sh|dash): )/u;
/** It says itself that it went on. */
const WENT_ON =
  /\b(?:continuing|ignor(?:ed|ing)|skipp(?:ed|ing)|carrying on|going on|goes on|fall(?:s|ing)? back|fallback|retrying|trying again|(?:will|shall) (?:be )?(?:retr(?:y|ied)|try|tried)|instead|recovered|anyway|optional|non-fatal|harmless|reconnecting)\b/i;
/** "ERROR agent: ImportError: cannot import name 'x'", "error='ValueError: no'". */
const TYPED =
  /(?:^|[\s:=('"[])((?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z][A-Za-z0-9]{0,60}(?:Error|Exception|Interrupt|Timeout|Failure))(?:: |\()(.{0,400})$/;
/** "0 failed", "no new errors", "failures: 0": said when nothing went wrong. */
const NO_COMPLAINT =
  /\b(?:0|no|zero|none|without) (?:\w{1,20} )?(?:errors?|failures?|failed|problems?|missing|invalid|unexpected|refused|denied|lost|rejected)\b|\b(?:errors?|failures?|failed|problems?|missing|invalid|rejected) ?[:=] ?(?:0|none)\b/gi;
/** Nothing went wrong in these. */
const CALM =
  /\b(?:ok|done|ready|started|starting|listening|success(?:ful(?:ly)?)?|succeeded|complete[ds]?|healthy|running|connected|loaded|processed|handled|served|serving|well|alive|heartbeat|tick|polling|waiting)\b|" [23]\d\d \d|^(?:GET|POST|PUT|HEAD|DELETE|PATCH) /i;

/** Signals with which a program ends itself after it has said why. */
const OWN_SIGNALS: readonly (string | null)[] = [null, 'SIGABRT', 'SIGTRAP'];

export function lastWords(lines: readonly LogLine[], errors: readonly FoundCrash[], exit: ExitView): Words | null {
  if (!OWN_SIGNALS.includes(exit.signal)) return null;
  const all = lines.flatMap((line, at) => (line.text.trim() === '' ? [] : [{ ...line, at }])).slice(-LAST_LINES);
  const advice = all.findIndex(({ text }) => isAdvice(text));
  const last = advice < 0 ? all : all.slice(0, advice);
  let conclusion: Words | null = null;
  let usage: Words | null = null;
  for (const { at, ...line } of last.reverse()) {
    const { text } = line;
    // Its last words are an error that is told in another way; that it ends is no cause.
    if (errors.some((found) => at >= found.first && at <= found.last)) return null;
    const isDetail = isRemark(text) || isRequest(text) || /^\s/.test(text) || isCall(lines, at);
    const complaint: Words | null = complaintIn(line) ?? (conclusion === null && exit.code !== 0 ? wantIn(line) : null);
    if (complaint !== null && !isDetail && !isFarewell(text)) return complaint;
    if (isUsageText(text) && exit.code !== 0) usage ??= { ...wordsOf(text), isComplaint: true };
    if (!isDetail && !isFarewell(text)) return conclusion ?? justLast(line, exit);
    if (!isRemark(text)) conclusion ??= complaint;
  }
  // How it is called is told to whoever called it in another way. Beside other words it is no reason.
  return conclusion ?? usage;
}

const wordsOf = (text: string): Omit<Words, 'isComplaint'> => {
  const line = text.trim().slice(0, MAX_WORDS_CHARS);
  return { line, type: null, message: line };
};

function complaintIn({ text, mood }: LogLine): Words | null {
  if (mood === 'calm' || WENT_ON.test(text)) return null;
  const line = text.trim().slice(0, MAX_WORDS_CHARS);
  const [, type, message] = TYPED.exec(line) ?? [];
  if (type !== undefined) {
    const name = type.slice(type.lastIndexOf('.') + 1);
    return { line, type: name, message: message!.trim(), isComplaint: true };
  }
  const complains = mood === 'severe' || COMPLAINT.test(line.replace(NO_COMPLAINT, ''));
  return complains ? { ...wordsOf(line), isComplaint: true } : null;
}

function wantIn({ text, logged }: LogLine): Words | null {
  const isWanting = WANTING.test(text.replace(NO_COMPLAINT, '')) || MARKED.test(text) || ASKED_FOR.test(text);
  if (logged || !isWanting || WENT_ON.test(text) || isFarewell(text)) return null;
  return { ...wordsOf(text), isComplaint: true };
}

/** A call whose place stands below it, as some loggers write stacks. */
const isCall = (lines: readonly LogLine[], at: number): boolean =>
  /^\s+\S{1,300}:\d{1,7}$/.test(lines[at + 1]?.text ?? '') && /^[\w./*()-]{1,200}$/.test(lines[at]!.text);

/** The last line of a program that ended by itself, unless it is about something that went well. */
function justLast({ text, logged }: LogLine, exit: ExitView): Words | null {
  if (exit.signal !== null || logged || CALM.test(text)) return null;
  return { ...wordsOf(text), isComplaint: false };
}

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
