/** The keys of `tickets` in a configuration object. */
import type { Duration } from './config-units.ts';

export type TicketPriority = 'low' | 'medium' | 'high' | 'critical';

/** When a crash becomes a ticket, and where tickets are written. */
export interface TicketsConfig {
  readonly after_crashes?: number;
  readonly rate_limit?: { readonly per?: Duration; readonly max?: number; readonly by?: 'fingerprint' | 'type' };
  /** By type of error. */
  readonly priorities?: Readonly<Record<string, TicketPriority>>;
  readonly trackers?: readonly TrackerConfig[];
}

/** Exactly one of these. */
export interface TrackerConfig {
  readonly local?: { readonly dir?: string };
  readonly github?: {
    readonly repo: string;
    readonly token: string;
    /** Of GitHub Enterprise: `https://HOST/api/v3`. */
    readonly url?: string;
    readonly labels?: readonly string[];
    readonly timeout?: Duration;
  };
  readonly webhook?: {
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly timeout?: Duration;
  };
  readonly command?: { readonly command: readonly string[]; readonly timeout?: Duration };
}
