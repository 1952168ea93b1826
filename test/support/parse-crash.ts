/** The last error in a text, without anything that is known besides it. */
import type { CrashContext, ParsedCrash } from '../../src/crashes/rules/crash.ts';
import { readLines } from '../../src/crashes/rules/lines.ts';
import { errorsIn, readCrash, scriptErrorsIn } from '../../src/crashes/rules/parse.ts';
import { lastOf } from '../../src/crashes/rules/verdict.ts';

export function parseCrash(tail: string, context: CrashContext = {}): ParsedCrash | null {
  const texts = readLines(tail).map(({ text }) => text);
  const all = errorsIn(texts);
  const found = lastOf(all.filter(({ survived }) => !survived)) ?? lastOf(all) ?? lastOf(scriptErrorsIn(texts));
  return found === null ? null : readCrash(found, texts, context);
}
