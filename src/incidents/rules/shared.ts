/** What is asked, and answered, before a tracker is told that several hosts have. */
import type { TrackerAction } from '../tickets/rules/ticket.ts';

export interface TrackerCall {
  readonly fingerprint: string;
  /** Where the tracker leads to. */
  readonly target: string;
  readonly deed: TrackerAction;
  readonly byHand: boolean;
  /** What the tracker calls the ticket, as far as this host knows. */
  readonly id: string | null;
  readonly address: string | null;
}

/** `isOurs` false: another host tells the tracker, or has told it. */
export interface TellingVerdict {
  readonly isOurs: boolean;
  readonly id: string | null;
  readonly address: string | null;
}
