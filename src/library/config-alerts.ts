/** The keys of `alerts` and `store` in a configuration object. */
import type { Duration } from './config-units.ts';

export interface AlertsConfig {
  /** Default: all of them. */
  readonly on?: readonly ('gave-up' | 'freeze' | 'crash-rate')[];
  readonly channels: readonly AlertChannelConfig[];
  readonly remind?: Duration | 'never';
}

export type AlertChannelConfig =
  | { readonly webhook: { readonly url: string; readonly headers?: Readonly<Record<string, string>> } }
  | { readonly slack: { readonly url: string } }
  | { readonly command: { readonly command: readonly string[] } };

export interface StoreConfig {
  /** The file of the database; default: `keepwell.db` in the state directory. */
  readonly path?: string;
  readonly retention?: Duration;
}
