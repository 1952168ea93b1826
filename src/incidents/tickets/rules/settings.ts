/** `tickets:` of the configuration, complete. */
import type { Priority } from './ticket.ts';

export interface TicketsSpec {
  /** Crashes with one cause (and task, for agents) within `TICKET_WINDOW_MS` that make a ticket. */
  readonly afterCrashes: number;
  readonly rateLimit: RateLimit;
  /** By error type, the whole name or its last part; what is not named has `DEFAULT_PRIORITY`. */
  readonly priorities: Readonly<Record<string, Priority>>;
  readonly trackers: readonly TrackerSpec[];
}

/** How often trackers are told something new: tickets and comments about crashes count, what people ask for does not. */
export interface RateLimit {
  readonly perMs: number;
  readonly max: number;
  /** For each cause, or for all causes with the same type of error together. */
  readonly by: 'fingerprint' | 'type';
}

export type TrackerSpec = { readonly name: string; readonly target: string } & (
  | { readonly kind: 'local'; readonly dir: string }
  | {
      readonly kind: 'github';
      readonly repo: string;
      readonly token: string;
      readonly url: string;
      readonly labels: readonly string[];
      readonly timeoutMs: number;
    }
  | {
      readonly kind: 'webhook';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'command'; readonly command: readonly string[]; readonly cwd: string; readonly timeoutMs: number }
);

/** Crashes further apart than this are not one problem that goes on. */
export const TICKET_WINDOW_MS = 24 * 3_600_000;
/** More crashes than this within the window are critical, whatever the error. */
export const CRITICAL_ABOVE = 10;
export const DEFAULT_PRIORITY: Priority = 'medium';
