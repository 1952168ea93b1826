/** Where the history is, complete. */
import { DEFAULTS } from './defaults.ts';
import type { StoreConfig } from './shape/store.ts';

export interface StoreSpec {
  /** Absolute; null: in the state directory. */
  readonly path: string | null;
  readonly retentionMs: number;
}

export function storeSpec(config: StoreConfig | undefined, absolute: (path: string) => string): StoreSpec {
  return {
    path: config?.path === undefined ? null : absolute(config.path),
    retentionMs: config?.retention ?? DEFAULTS.store.retentionMs,
  };
}
