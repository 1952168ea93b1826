/** What the configuration says about the history. */

export interface StoreSpec {
  /** Absolute; null: in the state directory. */
  readonly path: string | null;
  readonly retentionMs: number;
}
