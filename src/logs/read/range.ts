/** Which positions were written in a span of time, or by a run, as the facts of NAME.log.times tell. The log itself is not read. */
import { FactStream } from './fact-stream.ts';

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

const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** `latestMs`: when the log was last written to. Clocks jump, so this may be too much: the time of each line decides. */
export function rangeOf(path: string, { sinceMs, untilMs }: Span, latestMs: number | null): FoundRange {
  const latest = latestMs ?? Number.NEGATIVE_INFINITY;
  let from: number | null = sinceMs === null ? 0 : null;
  let to = 0;
  let before: number | null = null;
  let knownFrom = EVERYTHING;
  let firstMs: number | null = null;
  const stream = new FactStream(path);
  for (let fact = stream.next(); fact; fact = stream.next()) {
    if (fact.kind === 'base') continue;
    knownFrom = Math.min(knownFrom, fact.position);
    firstMs ??= fact.wallMs;
    if (from === null && sinceMs !== null && fact.wallMs >= sinceMs) from = before ?? fact.position;
    if (untilMs !== null && fact.wallMs <= untilMs) to = Math.max(to, fact.position);
    before = fact.position;
  }
  // What has no time is left out of "since", if there is anything that has: it is older. Without any facts all of it may be meant.
  from ??= sinceMs !== null && latest >= sinceMs ? (before ?? 0) : EVERYTHING;
  const isOpen = untilMs === null || latest <= untilMs || before === null;
  return { from, to: isOpen ? EVERYTHING : to || knownFrom, firstMs };
}

export interface RunRange extends Range {
  readonly run: string;
}

/** The last two runs, the newer one first. A run that was adopted may have been written down several times. */
export function lastRuns(path: string): readonly RunRange[] {
  const runs: { run: string; from: number }[] = [];
  const stream = new FactStream(path);
  for (let fact = stream.next(); fact; fact = stream.next()) {
    if (fact.kind !== 'run' || runs.at(-1)?.run === fact.run) continue;
    runs.push({ run: fact.run, from: fact.position });
    if (runs.length > 2) runs.shift();
  }
  const [older, newer] = runs.length === 2 ? runs : [undefined, runs[0]];
  return [...(newer ? [{ ...newer, to: EVERYTHING }] : []), ...(older ? [{ ...older, to: newer!.from }] : [])];
}
