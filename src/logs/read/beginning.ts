/** Where to begin in the log of a component, and where to end, for what somebody wants of it. */

import { type Line, LineSplitter, MAX_LINE_BYTES } from '../lines.ts';
import { breathe, type Matcher, matchInSlices } from './match.ts';
import type { LogSpace } from './space.ts';
import { TimeEntryStream } from './time-index.ts';

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

// Which positions were written in a span of time, or by a run, as the facts of NAME.log.times tell. The log itself is not read.

export interface Span {
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

export interface Range {
  readonly from: number;
  /** Lines that begin here or later are not meant. */
  readonly to: number;
}

export interface FoundRange extends Range {
  /** The first time that is known; null: there is none. */
  readonly firstMs: number | null;
}

const WHOLE_RANGE = Number.MAX_SAFE_INTEGER;

/** `latestMs`: when the log was last written to. Clocks jump, so this may be too much: the time of each line decides. */
export function rangeOf(path: string, { sinceMs, untilMs }: Span, latestMs: number | null): FoundRange {
  const latest = latestMs ?? Number.NEGATIVE_INFINITY;
  let from: number | null = sinceMs === null ? 0 : null;
  let to = 0;
  let before: number | null = null;
  let knownFrom = WHOLE_RANGE;
  let firstMs: number | null = null;
  const stream = new TimeEntryStream(path);
  for (let fact = stream.next(); fact; fact = stream.next()) {
    if (fact.kind === 'base') continue;
    knownFrom = Math.min(knownFrom, fact.position);
    firstMs ??= fact.wallMs;
    if (from === null && sinceMs !== null && fact.wallMs >= sinceMs) from = before ?? fact.position;
    if (untilMs !== null && fact.wallMs <= untilMs) to = Math.max(to, fact.position);
    before = fact.position;
  }
  // What has no time is left out of "since", if there is anything that has: it is older. Without any facts all of it may be meant.
  from ??= sinceMs !== null && latest >= sinceMs ? (before ?? 0) : WHOLE_RANGE;
  const isOpen = untilMs === null || latest <= untilMs || before === null;
  return { from, to: isOpen ? WHOLE_RANGE : to || knownFrom, firstMs };
}

export interface RunRange extends Range {
  readonly run: string;
}

/** The last two runs, the newer one first. A run that was adopted may have been written down several times. */
export function lastRuns(path: string): readonly RunRange[] {
  const runs: { run: string; from: number }[] = [];
  const stream = new TimeEntryStream(path);
  for (let fact = stream.next(); fact; fact = stream.next()) {
    if (fact.kind !== 'run' || runs.at(-1)?.run === fact.run) continue;
    runs.push({ run: fact.run, from: fact.position });
    if (runs.length > 2) runs.shift();
  }
  const [older, newer] = runs.length === 2 ? runs : [undefined, runs[0]];
  return [...(newer ? [{ ...newer, to: WHOLE_RANGE }] : []), ...(older ? [{ ...older, to: newer!.from }] : [])];
}

// Where the last lines of a log begin, found from its end, without reading more of it than that takes and without holding it.

const WINDOW_BYTES = 64 * 1024;
const MAX_WINDOW_BYTES = 4 * 1024 * 1024;

export interface Newest {
  /** A line begins here, or nothing is kept that is so old. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Only lines that fit count; null: all. */
  readonly matcher: Matcher | null;
  /** No further back than this, however few lines that gives. */
  readonly maxBytes: number;
}

/** Goes back window by window. A compressed part is one window: it can only be read from its beginning. */
export async function newestLines(space: LogSpace, { from, to, count, matcher, maxBytes }: Newest): Promise<number> {
  const end = Math.min(await space.end(), to);
  const first = Math.max(from, end - maxBytes);
  let missing = count;
  let found: number | null = null;
  let windowBytes = WINDOW_BYTES;
  for (let at = end; at > first && missing > 0; windowBytes = Math.min(MAX_WINDOW_BYTES, windowBytes * 2)) {
    const segment = await space.segmentBefore(at);
    if (!segment || segment.to <= first) break;
    const begin = Math.max(first, segment.from, segment.whole ? 0 : segment.to - windowBytes);
    const window: Window = {
      from: begin,
      to: segment.to,
      isOpen: begin === from || (begin === segment.from && segment.isBroken),
      lastStart: segment.to === at && at < end ? at : segment.to - 1,
    };
    const starts = new LastOf(missing);
    if (matcher) await scanMatches(space, window, matcher, (start) => starts.add(start));
    else await scanBreaks(space, window, (start) => starts.add(start));
    found = starts.first ?? found;
    missing -= starts.count;
    at = begin;
  }
  return found ?? (matcher || count === 0 ? end : first); // rather a part of a line than nothing at all
}

/** The last so many of a long row of numbers. */
class LastOf {
  readonly #capacity: number;
  readonly #ring: number[] = [];
  #added = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(value: number): void {
    this.#ring[this.#added++ % this.#capacity] = value;
  }

  get count(): number {
    return this.#ring.length;
  }

  get first(): number | null {
    return this.#ring[this.#added > this.#capacity ? this.#added % this.#capacity : 0] ?? null;
  }
}

// Looks through a stretch of a log for the beginnings of lines.

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface Window {
  readonly from: number;
  readonly to: number;
  /** A line begins at `from`, though no break may stand before it. */
  readonly isOpen: boolean;
  /** The last position at which a line may begin: `to`, if something follows there. */
  readonly lastStart: number;
}

type OnStart = (position: number) => void;

/** All lines. */
export async function scanBreaks(
  space: LogSpace,
  { from, to, isOpen, lastStart }: Window,
  onStart: OnStart,
): Promise<void> {
  if (isOpen) onStart(from);
  for await (const { bytes, position } of chunks(space, from, to)) {
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      if (position + at + 1 <= lastStart) onStart(position + at + 1);
    }
  }
}

/** Lines that fit. The last one is read on to its end, or as far as it would be shown. */
export async function scanMatches(space: LogSpace, window: Window, matcher: Matcher, onStart: OnStart): Promise<void> {
  const { from, isOpen, lastStart } = window;
  let lot: Line[] = [];
  const judge = async (): Promise<void> => {
    const answers = await matchInSlices(
      matcher,
      lot.map(({ text }) => text),
    );
    for (const [at, { offset }] of lot.entries()) if (answers[at]) onStart(offset);
    lot = [];
  };
  const splitter = new LineSplitter((line) => {
    if (line.offset <= lastStart && (line.offset !== from || isOpen)) lot.push(line);
  }, from);
  for await (const { bytes, position } of chunks(space, from, Number.MAX_SAFE_INTEGER)) {
    splitter.push(bytes);
    await judge();
    const at = position + bytes.length;
    if (splitter.lineStart > lastStart || (at >= window.to && at - splitter.lineStart > MAX_LINE_BYTES)) break;
  }
  splitter.flush();
  await judge();
}

/** Where the next line begins: behind the first break at or behind `position`; null: there is none. */
export async function nextLineStart(space: LogSpace, position: number): Promise<number | null> {
  for await (const { bytes, position: at } of chunks(space, position, Number.MAX_SAFE_INTEGER)) {
    const found = bytes.indexOf(NEWLINE);
    if (found >= 0) return at + found + 1;
  }
  return null;
}

/** Ends early where something is missing. */
async function* chunks(space: LogSpace, from: number, to: number): AsyncGenerator<{ bytes: Buffer; position: number }> {
  for (let position = from; position < to; ) {
    await breathe();
    const piece = await space.read(position, Math.min(CHUNK_BYTES, to - position));
    if (piece.kind !== 'bytes') return;
    yield { bytes: piece.bytes, position };
    position += piece.bytes.length;
  }
}
