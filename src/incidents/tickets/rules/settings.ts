/** When there is a ticket, and how often trackers are told. */
import type { Priority } from './ticket.ts';

export interface TicketSettings {
  /** Crashes with one cause (and task, for agents) within `TICKET_WINDOW_MS` that make a ticket. */
  readonly afterCrashes: number;
  readonly rateLimit: RateLimit;
  /** By error type, the whole name or its last part; what is not named has `DEFAULT_PRIORITY`. */
  readonly priorities: Readonly<Record<string, Priority>>;
  readonly trackers: readonly KnownTracker[];
}

/** How often trackers are told something new: tickets and comments about crashes count, what people ask for does not. */
export interface RateLimit {
  readonly perMs: number;
  readonly max: number;
  /** For each cause, or for all causes with the same type of error together. */
  readonly by: 'fingerprint' | 'type';
}

/** What the rules have to know of a tracker. */
export interface KnownTracker {
  readonly name: string;
  readonly target: string;
}

/** Crashes further apart than this are not one problem that goes on. */
export const TICKET_WINDOW_MS = 24 * 3_600_000;
/** More crashes than this within the window are critical, whatever the error. */
export const CRITICAL_ABOVE = 10;
export const DEFAULT_PRIORITY: Priority = 'medium';
