/** What a rule about causes looks at, and what it needs to say a sentence. */
import type { CrashContext, ParsedCrash } from '../crash.ts';

export interface Symptoms extends Pick<ParsedCrash, 'errorType' | 'message' | 'frames'> {
  readonly language: ParsedCrash['language'] | null;
  /** The lines of the crash, source code included. */
  readonly lines: readonly string[];
  /** What each error of the chain says, the innermost first. */
  readonly said: readonly string[];
  /** What belongs to it without being the cause: said when no rule knows better. */
  readonly aside: string;
}

export interface Case extends Symptoms {
  /** All that was said, as one text: what rules look for things in. Bounded. */
  readonly text: string;
  /** " in f (app/main.py:12)", or nothing. */
  readonly where: string;
  /** " (needed in f, app/main.py:12)", or nothing. */
  readonly place: (words: string) => string;
  readonly context: CrashContext;
}

/** One plain sentence without a full stop; null: it is something else. */
export type Rule = (symptoms: Case) => string | null;

/** The first group that took part, of the first expression that fits. */
export function firstMatch(text: string, expressions: readonly RegExp[]): string | null {
  for (const expression of expressions) {
    const found = expression.exec(text);
    if (found) return found.slice(1).find((group) => group !== undefined && group !== '') ?? '';
  }
  return null;
}
