/** What components wrote, as others may read it. */

export interface LogLineView {
  readonly component: string;
  /** Without its line break. */
  readonly line: string;
  /** Bytes left out at its end: a line without end is cut. */
  readonly cut_bytes: number;
  /** Where it begins in the file of the component; `after` takes it to go on behind it. */
  readonly offset: number;
}

export interface LogsView {
  readonly schema_version: 1;
  /** Component by component, each from old to new. */
  readonly lines: readonly LogLineView[];
}

export interface LogsQuery {
  /** Empty: every component that has written something, also those that begin to later. */
  readonly components: readonly string[];
  /** Lines of each to begin with. */
  readonly tail: number;
  /** Begins behind the line at this offset instead, by component. One that is not there any more means: from the beginning. */
  readonly after: Readonly<Record<string, number>>;
}

/** A place in the logs. What was read is not read again. */
export interface LogCursor extends Disposable {
  /** The whole lines since the last time. It never reads very much at once, so there may be more. */
  read(): readonly LogLineView[];
  /** What stands at the ends without a line break. Afterwards only `Symbol.dispose` makes sense. */
  rest(): readonly LogLineView[];
}

export interface Logs {
  /** The components that have written something, sorted. */
  names(): readonly string[];
  open(query: LogsQuery): LogCursor;
}
