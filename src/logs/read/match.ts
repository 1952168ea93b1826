/**
 * Which lines fit a text or a regular expression. An expression gets a deadline for each lot of lines: the engine gives it up in the
 * middle, so one that runs wild holds up its caller for a moment only, and is not tried again.
 */
import { createContext, Script } from 'node:vm';
import { AppError } from '../../base/pure/errors.ts';
import { withoutEscapes } from '../../base/pure/escapes.ts';
import type { ExpressionPattern, Pattern } from '../../supervision/rules/health/pattern.ts';

/** A hundred times what an expression needs that does not run wild. */
const LIMIT_MS = 100;
/** A machine that has no time for us is no fault of the expression: it must have used the time itself. */
const MIN_CPU_MS = 50;
const MAX_TRIES = 5;
/** Lines compared before the clock starts anew. */
const LOT = 500;
/** A longer line is judged by its beginning: what an expression may cost grows with the length of the line. */
const MAX_LINE_CHARS = 8 * 1024;

/** One answer for each line. */
export type Matcher = (lines: readonly string[]) => readonly boolean[];

/** Colours stand in the middle of what people look for, so they are not compared. */
export function matcherOf(pattern: Pattern): Matcher {
  if (pattern.kind === 'text') return (lines) => lines.map((line) => withoutEscapes(line).includes(pattern.text));
  const expression = expressionMatcher(pattern);
  return (lines) => {
    const answers: boolean[] = [];
    for (let at = 0; at < lines.length; at += LOT) {
      const lot = lines.slice(at, at + LOT).map((line) => withoutEscapes(line).slice(0, MAX_LINE_CHARS));
      for (const answer of expression(lot)) answers.push(answer);
    }
    return answers;
  };
}

function expressionMatcher({ expression, flags, source }: ExpressionPattern): Matcher {
  const world: { matcher: RegExp; lines: readonly string[] } = { matcher: new RegExp(expression, flags), lines: [] };
  const context = createContext(world);
  const script = new Script('lines.map((line) => matcher.test(line))');
  return (lines) => {
    world.lines = lines;
    for (let tries = 1; ; tries++) {
      const { user, system } = process.cpuUsage();
      try {
        return script.runInContext(context, { timeout: LIMIT_MS }) as readonly boolean[];
      } catch (error) {
        const used = process.cpuUsage({ user, system });
        const isStarved = (error as NodeJS.ErrnoException).code === TIMEOUT && used.user < MIN_CPU_MS * 1_000;
        if (!isStarved || tries === MAX_TRIES)
          throw new AppError('PATTERN_TOO_SLOW', { pattern: source }, { cause: error });
      }
    }
  };
}

const TIMEOUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT';
