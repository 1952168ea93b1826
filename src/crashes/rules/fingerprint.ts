/**
 * Which crashes are the same crash. A fingerprint is made of what stays the same: the type, the message without numbers, and the
 * component's own calls nearest to the error. The version is part of it: a better rule makes new fingerprints, and old ones stay
 * comparable with each other.
 */
import { describeEnd, type ExitView } from '../../base/pure/exit.ts';
import { shortHash } from '../../base/pure/hash.ts';
import type { CrashContext, CrashFrame, ParsedCrash } from './crash.ts';
import { steadyMessage } from './free-text.ts';
import { firstLine, normalise } from './normalise.ts';
import { steadyPath } from './paths.ts';

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
