/** What components wrote, as others may read it. */
import type { Pattern } from '../supervision/rules/health/pattern.ts';

export interface LogLineView {
  readonly component: string;
  /** Without its line break. */
  readonly line: string;
  /** When it was written, to about a second; null: not known. */
  readonly at: string | null;
  /** The run that wrote it; null: not known. */
  readonly run: string | null;
  /** The position at which it begins: how many bytes the component had written before. `after` takes it to go on behind it. */
  readonly offset: number;
  /** Bytes left out at its end: a line without end is cut. */
  readonly cut_bytes: number;
  /** Bytes between the line before and this one that are not kept any more. */
  readonly lost_bytes: number;
}

export interface LogsView {
  readonly schema_version: 1;
  /** Component by component, each from old to new. */
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
