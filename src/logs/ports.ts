/** What components wrote, as others may read it. */

import type { Count, IsoTime } from '../base/pure/json.ts';
import type { Pattern } from '../supervision/rules/health/pattern.ts';

/** A line that a component wrote. */
export interface LogLineView {
  readonly component: string;
  /** Without its line break. */
  readonly line: string;
  /** When it was written, to about a second. Null: not known. */
  readonly at: IsoTime | null;
  /** The run that wrote it. Null: not known. */
  readonly run: string | null;
  /** The position at which it begins: bytes the component had written before. "after" takes it. */
  readonly offset: Count;
  /** Bytes left out at its end: a line without end is cut. */
  readonly cut_bytes: Count;
  /** Bytes between the line before and this one that are no longer kept. */
  readonly lost_bytes: Count;
}

/** Lines, component by component, each from old to new. */
export interface LogsView {
  readonly schema_version: 1;
  readonly lines: readonly LogLineView[];
}

/** Which lines are wanted. */
export interface LogsFilter {
  /** Only what was written at this time or later, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Only what was written until then. */
  readonly untilMs?: number | undefined;
  /** Only lines that fit. */
  readonly grep?: Pattern | undefined;
  /** Only what the run before the present or last one wrote. */
  readonly previous?: boolean | undefined;
}

export interface LogsQuery extends LogsFilter {
  /** Empty: every component that has written something, also those that begin to later. */
  readonly components: readonly string[];
  /** Lines of each to begin with. */
  readonly tail: number;
  /** Begins behind the line at this position instead, by component. */
  readonly after: Readonly<Record<string, number>>;
}

export interface LogBatch {
  readonly lines: readonly LogLineView[];
  /** There is more to be read at once. */
  readonly more: boolean;
}

/** A place in the logs. What was read is not read again. */
export interface LogCursor extends AsyncDisposable {
  /** The whole lines since the last time. It never reads very much at once, so there may be more. Throws PATTERN_TOO_SLOW. */
  read(): Promise<LogBatch>;
  /** What stands at the ends without a line break. Afterwards only disposal makes sense. */
  rest(): Promise<readonly LogLineView[]>;
}

export interface Logs {
  /** The components that have written something, sorted. */
  names(): readonly string[];
  open(query: LogsQuery): LogCursor;
}

// Between the one who shortens logs and those who read them meanwhile. A *position* counts all bytes a component ever wrote
// (src/logs/format.ts); an *offset* is a place in a file.

/** Older bytes of a log, in a file of their own. It may be compressed (`.gz` is added to its name) or removed at any time. */
export interface PartPlace {
  readonly path: string;
  /** Where to begin in it. */
  readonly from: number;
  /** Where it ends. */
  readonly to: number;
}

/** Where the bytes from some position on lie: in these parts, oldest first, then in the log itself. */
export interface LogPlace {
  readonly parts: readonly PartPlace[];
  readonly offset: number;
  /** Bytes in between that are nowhere any more. */
  readonly missingBytes: number;
}

/** The head of a log is gone from it. */
export interface LogCut {
  readonly bytes: number;
  /** Where what was at this offset lies now. */
  place(offset: number): LogPlace;
}

/** Everybody reads on; null: nothing was cut off. Takes effect before it returns. */
export type GoOn = (cut: LogCut | null) => void;

/** Nobody reads this log, by its path, from when this resolves until `GoOn` is called. */
export type HoldStill = (path: string) => Promise<GoOn>;
