/** What reading a log at a position gives, and where positions lie together. */

export type Piece =
  /** Good until the next call. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'end' }
  /** What lies between is not kept any more. */
  | { readonly kind: 'lost'; readonly to: number }
  /** NAME.log was cut back or replaced by hand: what is in it now begins there. */
  | {
      readonly kind: 'restart';
      readonly why: 'truncated' | 'replaced';
      readonly to: number;
      readonly lostBytes: number;
    }
  /** The next byte has another position than was thought. */
  | { readonly kind: 'renumbered'; readonly to: number };

/** A stretch of positions in one file. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  /** The byte before it is not kept. */
  readonly isBroken: boolean;
  /** It can only be read from its beginning. */
  readonly whole: boolean;
}
