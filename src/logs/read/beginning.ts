/** Where to begin in the log of a component, and where to end, for what somebody wants of it. */
import type { Matcher } from './match.ts';
import { newestLines } from './newest.ts';
import { lastRuns, type Range, rangeOf } from './range.ts';
import { nextLineStart } from './scan.ts';
import type { LogSpace } from './space.ts';

export interface Wanted {
  /** Lines to begin with; null: all. */
  readonly tail: number | null;
  /** No further back than this for them. */
  readonly maxTailBytes: number;
  /** Behind the line that begins there instead; null: the tail. */
  readonly after: number | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly previous: boolean;
  readonly matcher: Matcher | null;
  /** What people should know beside the lines, as half a sentence without the name of the component. */
  onNote(note: string): void;
}

export interface Beginning {
  readonly from: number;
  /** Behind the last byte that is wanted. */
  readonly end: number;
  /** The last position at which a wanted line may begin. */
  readonly lastStart: number;
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** `onLost`: so many bytes that were meant are not kept any more. */
export async function beginning(
  space: LogSpace,
  timesPath: string,
  wanted: Wanted,
  onLost: (bytes: number) => void,
): Promise<Beginning> {
  const logEnd = await space.end();
  const run = wanted.previous ? previousRun(timesPath, wanted) : { from: 0, to: EVERYTHING };
  if (run === null) return { from: logEnd, end: logEnd, lastStart: logEnd };
  const oldest = await space.oldest();
  if (run.from < oldest && wanted.previous) onLost(Math.min(oldest, run.to) - run.from);
  const span = spanOf(space, timesPath, wanted, oldest);
  const until = { end: run.to, lastStart: span.to - 1 };
  if (wanted.after !== null) return { from: await behind(space, wanted.after, oldest, logEnd), ...until };
  // A run begins where it begins. A time takes whole lines: it is that of their first byte.
  const first = Math.min(Math.max(run.from, span.from, oldest), logEnd);
  const from = first > run.from && first > oldest && first < logEnd ? await lineAt(space, first) : first;
  if (wanted.tail === null) return { from, ...until };
  const { tail: count, matcher, maxTailBytes: maxBytes } = wanted;
  const to = Math.min(run.to, span.to);
  return { from: await newestLines(space, { from, to, count, matcher, maxBytes }), ...until };
}

/** The first line that begins at `position` or later. */
async function lineAt(space: LogSpace, position: number): Promise<number> {
  return (await nextLineStart(space, position - 1)) ?? (await space.end());
}

/** Behind the line at `position`, if that has an end; from the beginning, if this log never got that far. */
async function behind(space: LogSpace, position: number, oldest: number, end: number): Promise<number> {
  if (position > end) return oldest;
  return (await nextLineStart(space, position)) ?? position;
}

function previousRun(timesPath: string, { onNote }: Wanted): Range | null {
  const [last, previous] = lastRuns(timesPath);
  if (previous) return previous;
  onNote(last ? 'there was only one run so far, so there is no previous one' : 'when its runs began is not known');
  return null;
}

function spanOf(space: LogSpace, timesPath: string, wanted: Wanted, oldest: number): Range {
  const { sinceMs, untilMs, onNote } = wanted;
  if (sinceMs === null && untilMs === null) return { from: 0, to: EVERYTHING };
  const range = rangeOf(timesPath, { sinceMs, untilMs }, space.mtimeMs);
  if (range.firstMs === null) {
    if (range.from < EVERYTHING) onNote('when its lines were written is not known, so all of them are shown');
  } else if (sinceMs !== null && sinceMs < range.firstMs) {
    if (oldest > 0) onNote(`the first ${oldest} bytes it wrote are no longer kept`);
    const unknown = range.from - oldest;
    if (unknown > 0) onNote(`when its next ${unknown} bytes were written is not known; they are left out`);
  }
  return range;
}
