/**
 * Which crashes are the same crash. A fingerprint is made of what stays the same: the type, the message without numbers, and the
 * component's own calls nearest to the error. The version is part of it: a better rule makes new fingerprints, and old ones stay
 * comparable with each other.
 */
import { describeEnd, type ExitView } from '../../base/pure/exit.ts';
import { shortHash } from '../../base/pure/hash.ts';
import type { CrashContext, CrashFrame, ParsedCrash } from './crash.ts';
import { firstLine, normalise, steadyPath } from './normalise.ts';

const VERSION = 'v2';
/** Further calls tell who asked for it, not what went wrong. */
const MAX_FRAMES = 3;

export function fingerprint(crash: ParsedCrash, context: CrashContext = {}): string {
  return named([
    crash.language,
    crash.errorType ?? '',
    steadyMessage({
      type: crash.errorType,
      text: withoutFolder(firstLine(crash.message ?? ''), context),
      source: crash.source,
    }),
    ...ownCalls(crash.frames, context),
  ]);
}

/** Where the component is installed differs; what lies there does not. */
const withoutFolder = (text: string, { cwd = '' }: CrashContext): string =>
  cwd.length > 1 ? text.replaceAll(cwd.endsWith('/') ? cwd : `${cwd}/`, '') : text;

/** Without a stack: whose end it was, how it ended, and what it said last. Exit code 1 is no cause that two components share. */
export function fingerprintOfEnd(exit: ExitView, lastWords: string | null, { whose = '' }: CrashContext = {}): string {
  const words = steadyMessage({ type: null, text: firstLine(lastWords ?? ''), source: null });
  // How it took our signal does not matter when we ended it.
  const end = exit.unhealthy === null ? normalise(describeEnd(exit)) : '';
  return named(['end', whose, end, exitWords(exit), words]);
}

/** Exit codes and signals are numbers that matter. */
function exitWords(exit: ExitView): string {
  if (exit.unhealthy !== null) return normalise(exit.unhealthy);
  return [exit.code ?? '', exit.signal ?? '', exit.oom ? 'oom' : ''].join(' ');
}

const named = (parts: readonly string[]): string => `${VERSION}:${shortHash(parts.join('\n'))}`;

/** Up to the first call that comes again: how deep a recursion went does not matter. */
function ownCalls(frames: readonly CrashFrame[], { cwd }: CrashContext): readonly string[] {
  const calls: string[] = [];
  for (const { inApp, function: name, file } of frames) {
    if (!inApp) continue;
    const path = file === null ? '' : normalise(steadyPath(file, cwd));
    const call = `${normalise(plainFunction(name ?? ''))} ${path}`;
    if (calls.length === MAX_FRAMES || calls.includes(call)) break;
    calls.push(call);
  }
  return calls;
}

/** Names that compilers number: closures, lambdas, generated classes. */
const plainFunction = (name: string): string =>
  name
    .replace(/\$\$(?:Lambda|EnhancerBy\w+|FastClassBy\w+|SpringCGLIB)[^.]*/g, '')
    .replace(/lambda\$(\w+)\$\d+/g, '$1')
    .replace(/(?:\.func\d+)+(?:\.\d+)*$/, '.func')
    .replace(/::\{\{closure\}\}/g, '');

// The message of an error without what people, tools and models put into it, so that one bug is one crash whoever's name was in it. The
// line of code that raised it tells best what is fixed and what was filled in; where it is not shown, the quotes do.

/** Names in these are names of the code: another one is another bug. */
const CODE_TYPES =
  /^(?:ImportError|ModuleNotFoundError|AttributeError|NameError|UnboundLocalError|TypeError|SyntaxError|IndentationError|ReferenceError|NoMethodError|LoadError|(?:ERR_)?MODULE_NOT_FOUND|ERR_\w+|\w*ClassNotFoundException|NoClassDefFoundError|NoSuch(?:Method|Field)Error|NullPointerException|UnsatisfiedLinkError|Errno::\w+|\w*NotFoundError|\w*NotFoundException|command not found|unbound variable|no such file|permission denied|bad interpreter|script error|assertion failed|runtime error|Fatal error|ParseError)$/;
/** A name behind one of these is one of the code, too. */
const CODE_NOUN =
  /\b(?:modules?|packages?|names?|attributes?|imports?|exports?|columns?|tables?|relations?|variables?|commands?|class(?:es)?|methods?|propert(?:y|ies)|reading|options?|arguments?|flags?|librar(?:y|ies)|symbols?|functions?|types?|fields?|gems?|files?|director(?:y|ies)|constant|for|from|load|spawn|import|require|open|exec)[ :(=]{0,3}$/i;
/** Constants and paths are chosen by programmers. */
const FIXED = /^[A-Z][A-Z0-9_]+$|^[^\s]*[/\\][^\s]*$|^[\w-]+\.\w{1,5}$/;

const BAD_JSON =
  /^(?:Unexpected (?:token|end|number|string|non-whitespace|identifier|keyword)|Expected |Bad (?:control|escaped)|Unterminated |No number after|Exponent part|Expecting |Extra data|Invalid (?:control|\\escape))/;
const QUOTED = /(["'`])((?:(?!\1)[^\n]){1,200})\1/g;
/** "1 validation error", "2 validation errors". */
const PLURAL = /(# (?:\w{3,40} )?\w{2,40}[^s\W])s\b/g;

const MAX_CHARS = 300;

export interface Message {
  readonly type: string | null;
  /** Its first line. */
  readonly text: string;
  /** The line of code that it comes from; null: not shown. */
  readonly source: string | null;
}

export function steadyMessage({ type, text, source }: Message): string {
  const line = text.slice(0, MAX_CHARS);
  if (type === 'JSONDecodeError' || (/\bJSON\b/.test(line) && BAD_JSON.test(line))) return 'not valid JSON';
  const fixed = source !== null && isRaised(source) ? ofTemplate(line, source) : withoutQuoted(line, type, source);
  return normalise(fixed).replace(PLURAL, '$1');
}

/** It says its message itself, in quotes. */
const isRaised = (source: string): boolean =>
  /\b(?:raise|throw|abort|panic|die|fail)\b/.test(source) && /["'`]/.test(source);

/** Words that do not stand in the code were filled in. */
function ofTemplate(text: string, source: string): string {
  const words = text.split(/\s+/).map((word) => {
    const plain = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
    return plain === '' || source.includes(plain) ? word : '#';
  });
  return words.join(' ').replace(/#(?: #)+/g, '#');
}

function withoutQuoted(text: string, type: string | null, source: string | null): string {
  // Without a type, or with one that says nothing, only what stands before a name tells what it is.
  const isCode = type !== null && CODE_TYPES.test(type);
  if (isCode) return text;
  return text.replace(QUOTED, (all, mark: string, inner: string, at: number) => {
    const isKept = FIXED.test(inner) || CODE_NOUN.test(text.slice(Math.max(0, at - 40), at)) || source?.includes(inner);
    return isKept ? all : `${mark}#${mark}`;
  });
}
