/**
 * Between the one who shortens logs and those who read them meanwhile. A *position* counts all bytes a component ever wrote
 * (src/logs/format.ts); an *offset* is a place in a file.
 */

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
