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

// Reading logs is work for the event loop, and a search may go through gigabytes. It is done in slices: after each, everything else has
// its turn, and of all who read only one has a slice in a turn. So however many search, nobody waits longer than a slice for the loop.

const SLICE_MS = 8;
/** Lines compared without looking at the clock: more and more of them while that is quick. */
const MIN_LOT = 10;
const FIRST_LOT = 100;
const MAX_LOT = 5_000;

let sliceBegan = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/** To be awaited between two small pieces of work. */
export function breathe(): Promise<void> {
  if (performance.now() - sliceBegan < SLICE_MS) return Promise.resolve();
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(nextSlice);
  });
}

function nextSlice(): void {
  sliceBegan = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(nextSlice);
}

/** Which of the lines fit. Throws PATTERN_TOO_SLOW. */
export async function matchInSlices(matcher: Matcher, lines: readonly string[]): Promise<readonly boolean[]> {
  const answers: boolean[] = [];
  for (let at = 0, lot = FIRST_LOT; at < lines.length; ) {
    await breathe();
    const began = performance.now();
    for (const answer of matcher(lines.slice(at, at + lot))) answers.push(answer);
    at += lot;
    const isQuick = performance.now() - began < SLICE_MS / 4;
    lot = isQuick ? Math.min(MAX_LOT, lot * 2) : Math.max(MIN_LOT, Math.ceil(lot / 2));
  }
  return answers;
}
