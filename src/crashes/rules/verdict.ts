/**
 * Whether an error in the output is what a program died of. It is, when nothing of substance was written after it and the exit is
 * the one with which its language ends on such an error. Everything else is an error that the program got over: worth showing,
 * but no cause. This is the one place that decides it; causes, fingerprints, titles and tickets follow.
 */

import type { ExitView } from '../../base/pure/exit.ts';
import type { CrashContext, FoundCrash, Language } from './crash.ts';
import { ownReason } from './earlier.ts';
import type { LogLine } from './lines.ts';
import { causeIn } from './root-cause.ts';

export interface Verdict {
  /** What it died of; null: no error in the output is. */
  readonly cause: FoundCrash | null;
  /** Without a cause: the last error that it wrote, and what stands after it. */
  readonly earlier: { readonly found: FoundCrash; readonly linesAfter: number; readonly isLast: boolean } | null;
}

const NOTHING: Verdict = { cause: null, earlier: null };

/** An error that a logger wrote was dealt with: so long before the end it has nothing to do with it. */
const HANDLED_MS = 5_000;
/** What other threads may still write while a runtime that has given up ends. */
const MAX_LINES_AFTER = 40;

export function verdictOn(
  all: readonly FoundCrash[],
  lines: readonly LogLine[],
  exit: ExitView,
  context: CrashContext,
): Verdict {
  const own = ownReason(exit);
  if (own === 'never-started') return NOTHING;
  const isAsked = own === 'ended-by-us' || (exit.signal !== null && ASKED.includes(exit.signal));
  const known = isAsked ? all.filter((found) => !isAnswerToSignal(found)) : all;
  const newest = lastOf(known);
  if (newest === null) return NOTHING;
  // While it dies of one error, a program may write others that it does not care about.
  const last = lastOf(known.filter(({ survived }) => !survived));
  for (const found of own === null ? [last, newest] : []) {
    if (found !== null && isDeadly(found, afterwards(found, known, lines, context), lines, exit, context))
      return { cause: found, earlier: null };
  }
  const after = afterwards(newest, known, lines, context);
  return { cause: null, earlier: { found: newest, linesAfter: after.count, isLast: after.ofSubstance === 0 } };
}

/** Signals by which somebody asks a program to end. */
const ASKED: readonly string[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
/** Stacks that a signal makes a program write: they tell where it was, not what was wrong. */
const ANSWERS = /^(?:KeyboardInterrupt|SystemExit|CancelledError|Interrupt|SignalException|SIG[A-Z]+)$/;
const isAnswerToSignal = ({ chain }: FoundCrash): boolean =>
  chain.some(({ type }) => type !== null && ANSWERS.test(type));

function isDeadly(
  found: FoundCrash,
  after: Afterwards,
  lines: readonly LogLine[],
  exit: ExitView,
  context: CrashContext,
): boolean {
  const ends = endsOf(exit, after.status);
  if (!fits(found, ends) && !(after.isFailure && isOwnChoice(exit))) return false;
  // Only a Rust program that is built to abort dies of a panic in a thread.
  if (found.survived && !(found.language === 'rust' && ends.signals.includes('SIGABRT'))) return false;
  // The runtime itself says that it ends: what other threads write until then does not matter.
  if (found.uncaught) return after.ofSubstance <= MAX_LINES_AFTER;
  if (after.ofSubstance > 0) return false;
  const isLogged = lines[found.first]!.logged || lines[found.first - 1]?.logged === true;
  const age = isLogged ? (context.ageMs?.(lines[found.last]!.fromEnd) ?? null) : null;
  return age === null || age < HANDLED_MS;
}

interface Afterwards {
  /** Lines that say something, whatever it is. */
  readonly count: number;
  readonly ofSubstance: number;
  /** The program says that it cannot go on. */
  readonly isFailure: boolean;
  /** The status that a runner (go run, make, npm) says its command ended with. */
  readonly status: number | null;
}

function afterwards(
  found: FoundCrash,
  all: readonly FoundCrash[],
  lines: readonly LogLine[],
  context: CrashContext,
): Afterwards {
  const others = all.filter((one) => one.survived && one.first > found.last);
  const own = causeOf(found, context);
  let [count, ofSubstance, failed] = [0, 0, false];
  // Some parsers take the words of the runner in.
  let status = runnerStatus(lines[found.last]!.text);
  for (let at = found.last + 1; at < lines.length; at++) {
    const { text } = lines[at]!;
    if (text.trim() === '') continue;
    count++;
    status ??= runnerStatus(text);
    failed ||= isFailure(text);
    // More than this decides nothing any more.
    if (ofSubstance > MAX_LINES_AFTER || others.some(({ first, last }) => at >= first - 1 && at <= last)) continue;
    if (!isAbout(text, found) && !isRemark(text) && !isFarewellOf(text, own, context)) ofSubstance++;
  }
  return { count, ofSubstance, isFailure: failed, status };
}

/** A code that a program gives, not a shell for a signal. */
const isOwnChoice = ({ code }: ExitView): boolean => code !== null && code > 0 && code < 126;

const causeOf = ({ chain }: FoundCrash, context: CrashContext): string | null =>
  causeIn(`${chain[0]!.type ?? ''}: ${chain[0]!.message}`, context);

/** "Worker failed to boot." says that it ends; "could not start: no space left on device" says of what, which may be something else. */
function isFarewellOf(text: string, own: string | null, context: CrashContext): boolean {
  if (!isFarewell(text)) return false;
  const cause = causeIn(text, context);
  return cause === null || cause === own;
}

/** The shortest part of a message that does not stand in a line by chance. */
const MIN_QUOTED_CHARS = 8;

/** It says the same error once more. */
function isAbout(text: string, { chain }: FoundCrash): boolean {
  return chain.some(({ type, message }) => {
    const first = message.split('\n', 1)[0]!.trim().slice(0, 200);
    if (first.length >= MIN_QUOTED_CHARS && text.includes(first)) return true;
    return type !== null && /(?:Error|Exception)$/.test(type) && type.length > 'Error'.length && text.includes(type);
  });
}

/** How a process ended, as a code, a signal, or both: a shell says "128 + signal" for its command. */
interface Ends {
  readonly codes: readonly number[];
  readonly signals: readonly string[];
  readonly isUnknown: boolean;
}

const SIGNALS: Readonly<Record<number, string>> = {
  ...{ 1: 'SIGHUP', 2: 'SIGINT', 3: 'SIGQUIT', 4: 'SIGILL', 5: 'SIGTRAP', 6: 'SIGABRT', 7: 'SIGBUS', 8: 'SIGFPE' },
  ...{ 9: 'SIGKILL', 11: 'SIGSEGV', 13: 'SIGPIPE', 14: 'SIGALRM', 15: 'SIGTERM' },
};

function endsOf(exit: ExitView, status: number | null): Ends {
  const codes = [exit.code, status].filter((code) => code !== null);
  const signals = codes.flatMap((code) => (code > 128 ? (SIGNALS[code - 128] ?? []) : []));
  const isUnknown = exit.code === null && exit.signal === null;
  return { codes, signals: exit.signal === null ? signals : [...signals, exit.signal], isUnknown };
}

interface Deaths {
  readonly codes: readonly number[];
  readonly signals: readonly string[];
}

const ABORT = ['SIGABRT'] as const;
const FAULTS = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'] as const;
/** Perl ends with errno when it is set, which it often is by something else. Small numbers that are rarely set are chosen by people. */
const ERRNOS = [1, 2, 9, 13, 17, 20, 21, 22, 24, 25, 28, 29, 30, 32] as const;

/** With what each language ends on an error that nobody caught. */
const DEATHS: Readonly<Record<Language, Deaths>> = {
  python: { codes: [1], signals: [] },
  node: { codes: [1, 5, 6, 7, 13], signals: [] },
  go: { codes: [2], signals: ABORT },
  jvm: { codes: [1], signals: [] },
  rust: { codes: [101], signals: ABORT },
  ruby: { codes: [1], signals: [] },
  dotnet: { codes: [1], signals: [...ABORT, 'SIGSEGV'] },
  php: { codes: [255], signals: [] },
  perl: { codes: [255, ...ERRNOS, 97, 98, 99, 101, 103, 104, 110, 111, 113], signals: [] },
  native: { codes: [], signals: ABORT },
  shell: { codes: [1, 2, 126, 127], signals: [] },
};

/** Errors of the runtime itself, which end it in another way. */
const SPECIAL: readonly (readonly [RegExp, Deaths])[] = [
  [/^Fatal Python error$/, { codes: [1], signals: FAULTS }],
  [/^FATAL ERROR$/, { codes: [5], signals: FAULTS }],
  [/^DATA RACE$/, { codes: [66], signals: [] }],
  [/^(?:SIG[A-Z]+|EXCEPTION_[A-Z_]+)$/, { codes: [2], signals: FAULTS }],
  [/^(?:AddressSanitizer|MemorySanitizer|UndefinedBehaviorSanitizer)$/, { codes: [1], signals: FAULTS }],
  [/^LeakSanitizer$/, { codes: [1, 23], signals: [] }],
  [/^ThreadSanitizer$/, { codes: [66], signals: [] }],
  [/^killed child$/, { codes: [1, 2, 126, 127], signals: Object.values(SIGNALS) }],
  [/^\[BUG\]$/, { codes: [], signals: FAULTS }],
  [/^KeyboardInterrupt$|^Interrupt$/, { codes: [1, 130], signals: [] }],
];

function fits({ language, chain, ends }: FoundCrash, { codes, signals, isUnknown }: Ends): boolean {
  const type = chain.at(-1)!.type ?? '';
  const special = SPECIAL.find(([expression]) => expression.test(type) || expression.test(chain[0]!.type ?? ''));
  const own = ends ?? special?.[1] ?? DEATHS[language];
  if (isUnknown) return true;
  return codes.some((code) => own.codes.includes(code)) || signals.some((signal) => own.signals.includes(signal));
}

/** The last one. Of several that share lines, the one that knows more: a chain found twice is read better by its own language. */
export function lastOf(all: readonly FoundCrash[]): FoundCrash | null {
  const weight = ({ chain }: FoundCrash) =>
    chain.reduce((sum, one) => sum + one.frames.length + (one.type === null ? 0 : 1), 0);
  const best = (one: FoundCrash, other: FoundCrash) => {
    const overlaps = one.first <= other.last && other.first <= one.last;
    if (overlaps && weight(one) !== weight(other)) return weight(one) > weight(other);
    return one.last > other.last;
  };
  return all.reduce<FoundCrash | null>((last, one) => (last === null || best(one, last) ? one : last), null);
}

// What may stand after the error that a program died of without telling anything new: the remarks of runtimes and runners, rulers, and the
// words with which programs end. Each expression is anchored or reads a bounded line once.

/** Runtimes, package managers, build tools and test runners about a command that failed. */
const REMARKS: readonly RegExp[] = [
  /^[\s\-=_*~#.+^|]+$/, // rulers and marks below source
  /^Node\.js v\d|^\(Use `node --trace|^\(node:\d+\) /,
  /^note: |^exit status \d|^signal: |^FAIL\b|^goroutine \d+ \[/,
  /^npm (?:(?:ERR!|error)(?! (?:Missing |Invalid |enoent Could |[Cc]ould not |404 |ERESOLVE ))|notice|warn)|^error Command failed|^info Visit https:\/\/yarnpkg|^\[nodemon\]|ELIFECYCLE/,
  /^make(?:\[\d+\])?: (?:\*\*\* (?:\[|Waiting )|Entering |Leaving |Nothing |.{1,200} is up to date)|^ninja: |^error: (?:process didn't exit|Recipe |script )|^Caused by:$|^\s+process didn't exit/,
  /^(?:\S{1,300}: (?:line )?\d{1,6}: +\d{1,10} )?(?:Aborted|Segmentation fault|Bus error|Illegal instruction|Trace\/breakpoint trap|Floating point exception)\b/,
  /^BUILD FAILED|^FAILURE: |^\* (?:What went wrong|Try|Get more help)|^> (?:Run|Task|Process)\b/,
  /^(?:\S{1,100}: ){0,2}\w{0,40}Warning: |^Did you mean\b|^(?:Possible|Potential|Similar) (?:solutions?|options?|commands?)\b|^\*{3} .{1,300} \*{3}$|^\s*@ +0x[0-9a-f]/,
  /^error: (?:aborting due to|could not compile)|^compilation terminated|^Some errors have detailed|^Found \d+ errors?|^\s*\d{0,6} \|/,
  /^Backtrace omitted|^Run with [A-Z_]{1,40}=|^Location:$/,
  /^Sentry is attempting|^Waiting up to \d|^Press (?:Ctrl|\^)/,
  /^sys:\d+: |^\S{1,300}:\d+: \w+Warning: |^Task was destroyed but it is pending|^Exception ignored in/,
  /^(?:HINT|DETAIL|CONTEXT|STATEMENT|Hint|Detail|NOTE|Note|[Ss]ee|[Ff]or (?:more|details|help))\b:?/,
  /^(?:Usage|USAGE|usage|Flags|Options|Commands|Available Commands|Global Flags|Examples?|Arguments)\b.{0,200}:?$|^(?:\S{1,60}: )?(?:[Tt]ry|Use|Run|Type) .{0,200}(?:help|usage|-h\b)/,
  /^={3,} .{0,200} ={3,}$|^_{3,} .{0,200} _{3,}$|^FAILED |^ERROR {1,3}\S+\.py|^\d+ (?:failed|passed|error)|^Ran \d+ test|^\d{1,6}\.\.\d{1,6}$|^TAP version|^# (?:tests|pass|fail|suites|cancelled|skipped|todo|duration_ms)\b/,
];

/** How programs say that they end. */
const FAREWELL =
  /\b(?:shut(?:ting)?[ -]?down|exit(?:s|ing|ed)?|terminat(?:es?|ing|ed|ion)|stop(?:s|ping|ped)?|clos(?:ing|ed)|goodbye|bye|clean(?:ing|ed)?[ -]?up|cleanup|flush(?:ing|ed)|disconnect(?:ing|ed)|abort(?:ing|ed)?|giving up|gave up|quit(?:ting)?|finali[sz](?:ing|ed)|releas(?:ing|ed)|drain(?:ing|ed)|tear(?:ing)?[ -]?down|atexit|failed to (?:boot|start|run|initiali[sz]e)|start-?up failed|(?:could|can) ?not (?:boot|start|continue|go on|proceed|run)|can't (?:start|continue)|unrecoverable|fatal error, )\b/i;

/** How programs say that they end because something failed. Then the code they end with is one of their own choice. */
const FAILURE =
  /\b(?:failed to (?:boot|start|run|initiali[sz]e|load)|(?:start-?up|boot|initiali[sz]ation) failed|(?:could|can) ?not (?:boot|start|continue|go on|proceed|run)|can't (?:start|continue)|unrecoverable|giving up|gave up)\b/i;

export const isFailure = (line: string): boolean => line.length <= 300 && FAILURE.test(line);
/** A headline over what could be done about it. */
export const isAdvice = (line: string): boolean =>
  /^(?:Action|Actions|Hint|Suggestions?|Solutions?|Potential solutions|Possible (?:solutions|fixes|causes)|Resolution|Remedy|How to fix(?: (?:it|this))?|Next steps|Troubleshooting):$/i.test(
    line.trim(),
  );
/** A sentence that says what to do about the line above. */
export const isRequest = (line: string): boolean =>
  /^(?:Please|(?:Run|Try|Use|Check|Install|Consider|Make sure|Ensure|Perhaps|Maybe|You (?:can|may|should|must|need)) (?!fail|of )[a-z`'"$./-])/.test(
    line,
  );
export const isUsageText = (line: string): boolean => /^usage\b/i.test(line);
export const isRemark = (line: string): boolean => REMARKS.some((expression) => expression.test(line));
export const isFarewell = (line: string): boolean => line.length <= 300 && FAREWELL.test(line);

const STATUS: readonly RegExp[] = [
  /^exit status (\d{1,3})$/, // go run
  /^make(?:\[\d+\])?: \*\*\* .{0,300}\] Error (\d{1,3})/,
  /^npm (?:ERR!|error) (?:code|errno) (\d{1,3})$/,
  /^error Command failed with exit code (\d{1,3})/,
  /ELIFECYCLE.{0,60}(?:exit code|Exit status) (\d{1,3})/,
  /\bexit(?:ed with)? (?:status|code):? (\d{1,3})\b/,
];
const LAST_DEATHS: readonly (readonly [RegExp, number])[] = [
  [/^(?:\S{1,300}: (?:line )?\d{1,6}: +\d{1,10} )?Aborted\b|^signal: aborted|\(signal: 6, SIGABRT/, 134],
  [/^(?:\S{1,300}: (?:line )?\d{1,6}: +\d{1,10} )?Segmentation fault\b|^signal: segmentation fault/, 139],
];

/** The exit status that a runner says its command had; a signal as shells count it. Null: this line tells none. */
export function runnerStatus(line: string): number | null {
  const text = line.slice(0, 600);
  for (const expression of STATUS) {
    const [, status] = expression.exec(text) ?? [];
    if (status !== undefined) return Number(status);
  }
  return LAST_DEATHS.find(([expression]) => expression.test(text))?.[1] ?? null;
}
