/** Finds the crash in the last output of a program: the last one, and of a chain of errors the innermost. */
import { rootCauseOf } from './causes/root-cause.ts';
import type { CrashContext, CrashFrame, Found, Language, ParsedCrash, Parser, Thrown } from './crash.ts';
import { isInApp } from './in-app.ts';
import type { LogLine } from './lines.ts';
import { parseDotnet } from './parsers/dotnet.ts';
import { parseGo } from './parsers/go.ts';
import { parseJvm } from './parsers/jvm.ts';
import { parseNode } from './parsers/node.ts';
import { parsePython } from './parsers/python.ts';
import { parseRuby } from './parsers/ruby.ts';
import { parseRust } from './parsers/rust.ts';
import { parseShell } from './parsers/shell.ts';
import { beside, shownPath } from './paths.ts';

const MAX_STACK_LINES = 60;
const MAX_FRAMES = 50;
const MAX_FILES = 10;
const MAX_MESSAGE_CHARS = 1_000;
/** After an error that was logged, a program that writes more than this has got over it. */
const MAX_LINES_AFTER = 25;

const PARSERS: readonly Parser[] = [parsePython, parseNode, parseGo, parseJvm, parseRust, parseRuby, parseDotnet];

/** `onlyLast`: others ended the program, so only what it said right before is about that. */
export function crashIn(lines: readonly LogLine[], context: CrashContext, onlyLast = false): ParsedCrash | null {
  const texts = lines.map(({ text }) => text);
  const isNear = isAtEnd(lines, onlyLast);
  // A script says that its command failed after the command has said why.
  const found =
    lastOf(PARSERS.flatMap((parse) => parse(texts)).filter(isNear)) ?? lastOf(parseShell(texts).filter(isNear));
  return found === null ? null : complete(found, texts, context);
}

/** Whether a program that got over an error wrote so much after it that it must have ended of something else. */
function isAtEnd(lines: readonly LogLine[], onlyLast: boolean): (found: Found) => boolean {
  const ends = lines.flatMap(({ text }, at) => (text.trim() === '' ? [] : [at]));
  const border = ends.at(-1 - MAX_LINES_AFTER) ?? -1;
  return ({ first, last, survived }) => {
    const isLogged = survived || lines[first]!.logged || lines[first - 1]?.logged === true;
    return last >= border || !(isLogged || onlyLast);
  };
}

/** Of several that end alike, the one that knows more: a chain found twice is read better by its own language. */
function lastOf(all: readonly Found[]): Found | null {
  const weight = ({ chain }: Found) =>
    chain.reduce((sum, one) => sum + one.frames.length + (one.type === null ? 0 : 1), 0);
  const best = (one: Found, other: Found) => {
    const overlaps = one.first <= other.last && other.first <= one.last;
    if (overlaps && weight(one) !== weight(other)) return weight(one) > weight(other);
    if (one.survived !== other.survived && (one.survived || other.survived)) return !one.survived;
    return one.last > other.last;
  };
  return all.reduce<Found | null>((last, one) => (last === null || best(one, last) ? one : last), null);
}

function complete(found: Found, texts: readonly string[], context: CrashContext): ParsedCrash {
  const { language, chain } = found;
  const cause = chain[0]!;
  const frames = framesOf(chain, language, context);
  const lines = texts.slice(found.first, found.last + 1);
  const crash = {
    language,
    errorType: cause.type,
    message: cause.type === null && cause.message === '' ? null : cause.message.slice(0, MAX_MESSAGE_CHARS),
    frames: frames.slice(0, MAX_FRAMES),
    stack: shortened(lines),
  };
  const relatedFiles = filesOf(crash.message ?? '', frames, language, context);
  const said = chain.map(({ type, message }) => (type === null ? message : `${type}: ${message}`));
  return { ...crash, relatedFiles, rootCause: rootCauseOf({ ...crash, lines, said }, context) };
}

const NOWHERE = { function: null, line: null, column: null } as const;

function filesOf(
  message: string,
  frames: readonly CrashFrame[],
  language: Language,
  { cwd }: CrashContext,
): readonly string[] {
  const own = frames.flatMap(({ inApp, file }) => (inApp && file !== null ? [file] : []));
  const named = fileIn(message.split('\n', 1)[0]!, own[0]);
  const first = named !== null && isInApp({ ...NOWHERE, file: named }, language) ? [shownPath(named, cwd)] : [];
  return [...new Set([...first, ...own])].slice(0, MAX_FILES);
}

/** The file that has to be changed when an export is missing: the last in parentheses, or the module beside the importer. */
function fileIn(message: string, importer: string | undefined): string | null {
  const [, file] = /\(([^()\s]+\.\w{1,5})\)$/.exec(message) ?? [];
  if (file !== undefined) return file;
  const [, module] = /requested module '(\.{1,2}\/[^']+)' does not provide/.exec(message) ?? [];
  return module === undefined || importer === undefined ? null : beside(importer, module);
}

/** Those of the cause, and when all of them are in libraries, those of what it led to. */
function framesOf(chain: readonly Thrown[], language: Language, { cwd }: CrashContext): readonly CrashFrame[] {
  const frames: CrashFrame[] = [];
  for (const { frames: raw } of chain) {
    for (const one of raw) {
      const file = one.file === null ? null : shownPath(one.file, cwd);
      frames.push({ ...one, file, inApp: isInApp(one, language) });
    }
    if (frames.some(({ inApp }) => inApp)) break;
  }
  return frames;
}

/** The beginning names the error in most languages, the end in the others. */
function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_STACK_LINES) return lines;
  const half = MAX_STACK_LINES / 2;
  return [...lines.slice(0, half), `… ${lines.length - 2 * half} lines left out …`, ...lines.slice(-half)];
}
