/** What the configuration says about the history. */

export interface StoreSpec {
  /** Absolute; null: in the state directory. */
  readonly path: string | null;
  readonly retentionMs: number;
  /** The database that hosts share; null: this one shares with nobody. Holds a password. */
  readonly fleet: string | null;
}
