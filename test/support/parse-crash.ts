/** The crash in a text, without anything that is known besides it. */
import type { CrashContext, ParsedCrash } from '../../src/core/crash/crash.ts';
import { readLines } from '../../src/core/crash/lines.ts';
import { crashIn } from '../../src/core/crash/parse.ts';

export const parseCrash = (tail: string, context: CrashContext = {}): ParsedCrash | null =>
  crashIn(readLines(tail), context);
