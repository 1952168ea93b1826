/** Which components a command line means: names, patterns with * and ?, or --all. */
import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import { usage } from './call.ts';

/** In the order of `known`, each once. A name or pattern that fits nothing is an error, and then nothing is done at all. */
export function resolveTargets(patterns: readonly string[], known: readonly string[]): string[] {
  const chosen = new Set<string>();
  for (const pattern of patterns) {
    const found = known.filter((name) => matches(pattern, name));
    if (found.length === 0) throw noSuch(pattern, known);
    for (const name of found) chosen.add(name);
  }
  return known.filter((name) => chosen.has(name));
}

/** NAME and --component NAME mean the same. */
export function oneName(name: string | undefined, component: string | undefined): string | undefined {
  if (name !== undefined && component !== undefined && name !== component)
    throw usage('Give NAME or --component NAME, not both.');
  return name ?? component;
}

/** For commands that must be told whom they mean. */
export function requireTargets(patterns: readonly string[], all: boolean, command: string): void {
  if (all && patterns.length > 0) throw usage('Give names or --all, not both.');
  if (!all && patterns.length === 0) {
    throw usage(`Say what to ${command}: "keepwell ${command} NAME", or "keepwell ${command} --all".`);
  }
}

export const noSuch = (name: string, known: readonly string[]): AppError =>
  new AppError('NO_SUCH_COMPONENT', { name: name.slice(0, 100), suggestion: didYouMean(name.slice(0, 100), known) });

/** Glob match by two pointers: linear enough for any pattern, unlike a regular expression made of stars. */
export function matches(pattern: string, name: string): boolean {
  let p = 0;
  let star = -1;
  let resume = 0;
  for (let n = 0; n < name.length; ) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === name[n])) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume; // the star takes one character more
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
